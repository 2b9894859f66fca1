import { describe, expect, it } from "vitest";
import { findPythonSdks } from "./programs";
import { pythonOf, runPython, startRig } from "./rig";

const sdks = await findPythonSdks();

describe.each(sdks.map((sdk) => [`PyPI runpod ${sdk.version}: synchronous client`, sdk.python] as const))(
  "%s",
  (_title, pythonSearch) => {
    it("Endpoint.run, Endpoint.run_sync, Endpoint.purge_queue, Endpoint.health, Job.status, Job.output, Job.stream, Job.cancel", async (context) => {
      await using rig = await startRig(pythonSearch);
      const python = pythonOf(pythonSearch, context);
      const endpoints = [await rig.endpoint("plain.py"), await rig.endpoint("generator.py")];
      const env = { RUNPOD_ENDPOINT_BASE_URL: `${rig.service.serverlessUrl}/v2` };
      expect(await runPython(python, "client.py", { args: endpoints, apiKey: rig.service.apiKey, env })).toEqual({
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
  },
);
