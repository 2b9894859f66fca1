import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findPython } from "./programs";
import { describePythonWorker } from "./python-worker";
import { pythonOf, type SdkRig, startRig } from "./rig";
import { versions } from "./versions";

const python = await findPython();
let rig: SdkRig;
beforeAll(async () => {
  rig = await startRig(python);
});
afterAll(() => rig[Symbol.asyncDispose]());

const client = `PyPI runpod ${versions.pythonSdk}: worker`;

describePythonWorker(client, async (context) => {
  pythonOf(python, context);
  return rig;
});

describe(client, () => {
  test("the log of a worker contains the handler's output, but not each request and heartbeat of the SDK", async (context) => {
    pythonOf(python, context);
    const id = await rig.endpoint("plain.py");
    const job = await rig.clients.jobs.runsync(id, { input: { do: "print" } }, { wait: 60_000 });
    expect(job.status).toBe("COMPLETED");
    const log = () => readFile(join(dirname(rig.service.apiKeyFile), "logs", `${id}.log`), "utf8");
    await expect.poll(log).toMatch(/^\S+Z local-\w+ printed by the handler$/m);
    expect(await log()).not.toMatch(/Heartbeat|"level": "DEBUG"/);
  });
});
