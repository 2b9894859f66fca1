import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { findPython } from "./programs";
import { pythonOf, startRig } from "./rig";
import { versions } from "./versions";

const pythonSearch = await findPython();
const program = fileURLToPath(new URL("client.py", import.meta.url));

describe(`PyPI runpod ${versions.pythonSdk}: synchronous client`, () => {
  it("Endpoint.run, Endpoint.run_sync, Endpoint.purge_queue, Endpoint.health, Job.status, Job.output, Job.stream, Job.cancel", async (context) => {
    await using rig = await startRig(pythonSearch);
    const python = pythonOf(pythonSearch, context);
    const endpoints = [await rig.endpoint("plain.py"), await rig.endpoint("generator.py")];
    const client = spawn(python, [program, ...endpoints], {
      env: { PATH: process.env["PATH"], RUNPOD_ENDPOINT_BASE_URL: `${rig.service.serverlessUrl}/v2` },
      stdio: ["pipe", "pipe", "pipe"],
    });
    // The key is passed by standard input, because arguments are visible in the list of processes.
    client.stdin.end(`${rig.service.apiKey}\n`);
    const [said, complaint] = await Promise.all([text(client.stdout), text(client.stderr)]);
    expect(said, complaint).not.toBe("");
    expect(JSON.parse(said)).toEqual({
      output: { echo: { text: "hello" }, id: expect.any(String) },
      status: "COMPLETED",
      sync: { echo: { text: "now" }, id: expect.stringMatching(/^sync-/) },
      stream: [{ index: 0 }, { index: 1 }, { index: 2 }],
      purged: { removed: 1, status: "completed" },
      cancelled: "CANCELLED",
      health: {
        jobs: expect.objectContaining({ completed: expect.any(Number), inQueue: 0 }),
        workers: expect.objectContaining({ idle: expect.any(Number), running: expect.any(Number) }),
      },
    });
  });
});
