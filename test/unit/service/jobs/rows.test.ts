import { expect, onTestFinished, test } from "vitest";
import type { WaitingWorker } from "../../../../service/jobs/ready-queue";
import { openJobsRig } from "./support/jobs-rig";

/** Jobs with one worker that takes each job as soon as it is submitted. */
function rigOf() {
  const rig = openJobsRig();
  onTestFinished(() => rig.close());
  const worker: WaitingWorker = { workerId: "w", endsWithService: true, deliver: () => undefined };
  const run = async (fields: Parameters<typeof rig.newJob>[0]) => {
    rig.jobs.await("endpoint", worker);
    const submission = rig.newJob(fields);
    const job = await rig.jobs.submit(submission);
    expect(job.status).toBe("IN_PROGRESS");
    return job.id;
  };
  return { ...rig, run };
}

test("a job that fails with an output, is retried and cancelled in one transaction has none", async () => {
  const rig = rigOf();
  const id = await rig.run({});
  await rig.jobs.finish(id, "w", { error: "no", output: '"old"' });
  expect(rig.store.find(id)).toMatchObject({ job: { status: "FAILED" }, output: '"old"' });

  await Promise.all([rig.jobs.retry("endpoint", id), rig.jobs.cancel("endpoint", id)]);
  expect(rig.store.find(id)).toMatchObject({ job: { status: "CANCELLED" }, output: undefined });
});

test("a job keeps its last progress when it is cancelled, and loses it when it completes without an output", async () => {
  const rig = rigOf();
  const cancelled = await rig.run({});
  await rig.jobs.progress(cancelled, "w", '"half"');
  await rig.jobs.cancel("endpoint", cancelled);
  expect(rig.store.find(cancelled)).toMatchObject({ job: { status: "CANCELLED", hasOutput: true }, output: '"half"' });

  const completed = await rig.run({});
  await rig.jobs.progress(completed, "w", '"half"');
  await rig.jobs.finish(completed, "w", { output: undefined });
  expect(rig.store.find(completed)).toMatchObject({
    job: { status: "COMPLETED", hasOutput: false },
    output: undefined,
  });
});
