import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { createService } from "serverless-compute-local";
import { describe, expect, it, onTestFinished } from "vitest";
import { findPython, sdk } from "./programs";
import { pythonOf } from "./rig";
import { versions } from "./versions";

const pythonSearch = await findPython(`runpod-flash==${versions.flash}`, sdk);
const program = fileURLToPath(new URL("flash.py", import.meta.url));

describe(`PyPI runpod-flash ${versions.flash}`, () => {
  it("NetworkVolume.deploy, ServerlessEndpoint.deploy, ServerlessEndpoint.undeploy, get_gpu_lowest_price_stock_status, get_cpu_specific_stock_status, endpoint_exists, get_template", async (context) => {
    const python = pythonOf(pythonSearch, context);
    // On disk, the secret scan would find the key, which flash sets in the environment of its template.
    const service = await createService({ port: 0, ephemeral: true });
    onTestFinished(() => service.stop(0));
    // flash writes its state into the current folder.
    const folder = await mkdtemp(join(tmpdir(), "flash-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const client = spawn(python, [program], {
      cwd: folder,
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        RUNPOD_ENDPOINT_BASE_URL: `${service.serverlessUrl}/v2`,
        RUNPOD_API_BASE_URL: service.serverlessUrl,
        RUNPOD_REST_API_URL: service.baseUrl,
        RUNPOD_HAPI_URL: service.serverlessUrl,
        RUNPOD_CONSOLE_URL: service.serverlessUrl,
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
    // The key is passed by standard input, because arguments are visible in the list of processes.
    client.stdin.end(`${service.apiKey}\n`);
    const [stdout, stderr] = await Promise.all([text(client.stdout), text(client.stderr)]);
    expect(stdout, stderr).not.toBe("");
    expect(JSON.parse(stdout)).toEqual({
      volume: { id: expect.any(String), name: "flash-volume", size: 20, dataCenterId: "EU-RO-1" },
      found: true,
      stock: "High",
      cpu_stock: "High",
      exists: true,
      image: "acme/echo:1",
      undeployed: true,
      left: false,
    });
  });
});
