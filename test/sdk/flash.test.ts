import { createService } from "serverless-compute-local";
import { describe, expect, it, onTestFinished } from "vitest";
import { scratchFolder } from "../support/folders";
import { findPython, sdk } from "./programs";
import { pythonOf, runPython } from "./rig";
import { versions } from "./versions";

const pythonSearch = await findPython(`runpod-flash==${versions.flash}`, sdk);

describe(`PyPI runpod-flash ${versions.flash}`, () => {
  it("NetworkVolume.deploy, ServerlessEndpoint.deploy, ServerlessEndpoint.undeploy, get_gpu_lowest_price_stock_status, get_cpu_specific_stock_status, endpoint_exists, get_template", async (context) => {
    const python = pythonOf(pythonSearch, context);
    // On disk, the secret scan would find the key, which flash sets in the environment of its template.
    const service = await createService({ port: 0, ephemeral: true });
    onTestFinished(() => service.stop(0));
    // flash writes its state into the current folder.
    const folder = scratchFolder();
    const env = {
      HOME: folder,
      RUNPOD_ENDPOINT_BASE_URL: `${service.serverlessUrl}/v2`,
      RUNPOD_API_BASE_URL: service.serverlessUrl,
      RUNPOD_REST_API_URL: service.baseUrl,
      RUNPOD_HAPI_URL: service.serverlessUrl,
      RUNPOD_CONSOLE_URL: service.serverlessUrl,
    };
    expect(await runPython(python, "flash.py", { args: [], apiKey: service.apiKey, env, cwd: folder })).toEqual({
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
