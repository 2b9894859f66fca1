import { expect, test } from "vitest";
import { z } from "zod";
import { images } from "../workers/support/programs";
import { useJobRig } from "./support/job-rig";

const answer = z.looseObject({
  jobs: z.object({ inQueue: z.number(), inProgress: z.number(), completed: z.number(), failed: z.number() }),
});

test("each response of /health counts every accepted job as queued, running or finished", async () => {
  const rig = await useJobRig({ images });
  const jobs = await rig.endpoint("tool", { workersMin: 1 });
  await jobs.reaches(await jobs.run({}), "COMPLETED");
  const missing: string[] = [];
  for (let accepted = 2; accepted <= 60; accepted++) {
    await jobs.run({});
    // A waiting worker takes the job during these requests.
    for (const { json } of await Promise.all([1, 2, 3].map(() => jobs.call("GET", "/health")))) {
      const { inQueue, inProgress, completed, failed } = answer.parse(json).jobs;
      if (inQueue + inProgress + completed + failed < accepted) missing.push(`${accepted}: ${JSON.stringify(json)}`);
    }
  }
  expect(missing).toEqual([]);
});
