import { expect, test } from "vitest";
import { useJobRig } from "../jobs/support/job-rig";
import { images, shortTimings } from "./support/programs";

test("/health contains the last worker's crash until a worker runs a job again", async () => {
  const rig = await useJobRig({ images, timings: shortTimings });
  const jobs = await rig.endpoint("tool");
  await jobs.reaches(await jobs.run({ do: "crash" }), "FAILED");
  expect((await jobs.health()).message).toMatch(
    /^workers of the image "tool" crash: the last one ended with exit code 3 while it ran a job; its last lines:\nlast words/,
  );
  await jobs.reaches(await jobs.run({ do: "pid" }), "COMPLETED");
  expect(await jobs.health()).not.toHaveProperty("message");
});

test("/health reports a worker that does not request a job before it is stopped", async () => {
  const silent = { silent: `"${process.execPath}" -e "setInterval(() => {}, 1000)"` };
  const rig = await useJobRig({ images: silent, timings: { ...shortTimings, takeSilence: 50 } });
  const jobs = await rig.endpoint("silent");
  await jobs.run({});
  await jobs.healthBecomes(({ workers }) => workers["unhealthy"] === 1);
  expect((await jobs.health()).message).toMatch(
    /^workers of the image "silent" do not request jobs: local-\w+ has run for \d+ s; its program must take jobs, as the SDK's serverless\.start does$/,
  );
});
