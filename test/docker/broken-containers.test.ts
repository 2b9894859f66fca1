import { expect, test } from "vitest";
import { startRig } from "./rig";

const timings = { startBackoff: 20, startBackoffMax: 50 };

test("an invalid image name and a missing command are named in the job's error", async (context) => {
  const rig = await startRig(context, { timings });
  const run = async (of: object) => (await rig.clients.jobs.runsync(await rig.endpoint(of), { input: {} })).error ?? "";
  expect(await run({ image: "../info" })).toContain('"../info" is not an image name');
  expect(await run({ dockerArgs: "python9" })).toMatch(/could not be started: .*"python9"/);
});
