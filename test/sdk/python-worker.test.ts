import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findPythonSdks } from "./programs";
import { describePythonWorker } from "./python-worker";
import { pythonOf, type SdkRig, startRig } from "./rig";
import { versions } from "./versions";

const wait = 60_000;

for (const { version, python } of await findPythonSdks()) {
  let rig: SdkRig;
  beforeAll(async () => {
    rig = await startRig(python);
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const client = `PyPI runpod ${version}: worker`;

  describePythonWorker(client, async (context) => {
    pythonOf(python, context);
    return rig;
  });

  describe(client, () => {
    test("the log of a worker contains the handler's output, but not each request and heartbeat of the SDK", async (context) => {
      pythonOf(python, context);
      const id = await rig.endpoint("plain.py");
      const job = await rig.clients.jobs.runsync(id, { input: { do: "print" } }, { wait });
      expect(job.status).toBe("COMPLETED");
      const log = () => readFile(join(dirname(rig.service.apiKeyFile), "logs", `${id}.log`), "utf8");
      await expect.poll(log).toMatch(/^\S+Z local-\w+ printed by the handler$/m);
      expect(await log()).not.toMatch(/Heartbeat|"level": "DEBUG"/);
    });

    test("fails a job once if its output is not a JSON value", async (context) => {
      pythonOf(python, context);
      const id = await rig.endpoint("unserializable.py");
      const expected = {
        bytes: "Object of type bytes is not JSON serializable",
        circle: "Circular reference detected",
        key: "keys must be str, int, float, bool or None, not tuple",
        surrogate: "codec can't encode character",
        nan: "must be valid JSON, which does not have the value NaN",
      };
      for (const [kind, reason] of Object.entries(expected)) {
        const job = await rig.clients.jobs.runsync(id, { input: { kind } }, { wait });
        expect(job, kind).toMatchObject({ status: "FAILED", error: expect.stringContaining(reason) });
        expect(job).not.toHaveProperty("retries");
      }
    });

    test("reports the traceback of a crash in its start", async (context) => {
      pythonOf(python, context);
      const id = await rig.endpoint("crashing.py");
      const job = await rig.clients.jobs.runsync(id, { input: {} }, { wait });
      expect(job.status).toBe("FAILED");
      expect(job.error).toMatch(
        /ValueError: no concurrency\nIts last lines:\n(?:.*\n)*.*crashing\.py", line 5, in concurrency/,
      );
    });

    if (version === versions.pythonSdk2)
      test("fails its job with the report of a start hook that fails", async (context) => {
        pythonOf(python, context);
        const id = await rig.endpoint("prestart.py");
        const { status, error } = await rig.clients.jobs.runsync(id, { input: {} }, { wait });
        expect(status).toBe("FAILED");
        expect(JSON.parse(String(error))).toMatchObject({ event: "prestart_failed", error_message: "no model" });
        const message = async () => (await rig.clients.jobs.health(id)).message;
        await expect.poll(message, { timeout: wait }).toContain("its start hook failed: ValueError: no model");
      });
  });
}
