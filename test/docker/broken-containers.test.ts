import { expect, test } from "vitest";
import { startPrivateRegistry, storeCredentials } from "./private-registry";
import { startRig } from "./rig";

const timings = { startBackoff: 20, startBackoffMax: 50 };

test("a container that exits at its start puts its last lines into the job's error", async (context) => {
  const rig = await startRig(context, { timings });
  const id = await rig.endpoint({ dockerArgs: `node -e 'console.error("no model here"); process.exit(1)'` });
  const record = await rig.clients.jobs.runsync(id, { input: {} });
  expect(record).toMatchObject({ status: "FAILED" });
  expect(record.error).toContain("ended with exit code 1, before it requested a job; its last lines:\nno model here");
  expect((await rig.clients.jobs.health(id)).message).toContain("no model here");
  expect(await rig.containers()).toEqual([]);
});

test("a missing image and a missing command are named in the job's error", async (context) => {
  const rig = await startRig(context, { timings });
  const run = async (of: object) => (await rig.clients.jobs.runsync(await rig.endpoint(of), { input: {} })).error ?? "";
  expect(await run({ image: "127.0.0.1:1/acme/none:1" })).toMatch(
    /the image "127\.0\.0\.1:1\/acme\/none:1" cannot be pulled: .*refused/,
  );
  expect(await run({ image: "../info" })).toContain('"../info" is not the name of an image');
  expect(await run({ dockerArgs: "python9" })).toMatch(/could not be started: .*"python9"/);
});

test("a registry's error is quoted without the password", async (context) => {
  const rig = await startRig(context, { timings });
  const registry = await startPrivateRegistry();
  const credentials = { name: "hub", username: "me", password: "a-password-of-the-test" };
  const containerRegistryAuthId = await storeCredentials(rig.service, credentials);
  const id = await rig.endpoint({ image: `${registry.host}/acme/private:1`, containerRegistryAuthId });
  const { status, error = "" } = await rig.clients.jobs.runsync(id, { input: {} });
  expect(status).toBe("FAILED");
  expect(error).toMatch(/cannot be pulled: .*(unauthorized|no basic auth|not for you)/i);
  expect(registry.seen).toContain(`Basic ${Buffer.from("me:a-password-of-the-test").toString("base64")}`);
  expect(error + (await rig.log(id))).not.toContain(credentials.password);
});

test("a container that never requests a job is unhealthy, is stopped, and fails the queued jobs", async (context) => {
  const short = { ...timings, takeSilence: 300, startLimit: 1500, secondLook: 50, killGrace: 200 };
  const rig = await startRig(context, { timings: short });
  const id = await rig.endpoint({ dockerArgs: "node -e 'setInterval(() => {}, 1000)'" });
  const job = rig.clients.jobs.runsync(id, { input: {} });
  await expect.poll(async () => (await rig.clients.jobs.health(id)).workers?.unhealthy).toBe(1);
  expect(await job).toMatchObject({ status: "FAILED", error: expect.stringContaining("did not request a job within") });
});
