import { expect, onTestFinished, test } from "vitest";
import type { Taker } from "../../../../service/jobs/ready-queue";
import { openJobsRig } from "./support/jobs-rig";

/** Jobs with one worker that takes each job as soon as it is submitted. */
function rigOf() {
  const rig = openJobsRig();
  onTestFinished(() => rig.close());
  const worker: Taker = { workerId: "w", endsWithService: true, give: () => undefined };
  const run = async (fields: Parameters<typeof rig.newJob>[0]) => {
    rig.jobs.await("endpoint", worker);
    const submission = rig.newJob(fields);
    const job = submission.operation === "run" ? await rig.jobs.submit(submission) : rig.jobs.submitSync(submission);
    expect(job?.status).toBe("IN_PROGRESS");
    return job?.id ?? "";
  };
  return { ...rig, run };
}

test("the progress of an unwritten job is not attributed to another job after a kill", async () => {
  const rig = rigOf();
  const id = await rig.run({ operation: "runsync" });
  expect(rig.store.find(id)).toBeUndefined();
  expect(await rig.jobs.progress(id, "w", '"half"')).toBe(true);

  const life = rig.afterKill();
  expect(life.records.find("endpoint", id)?.job.status).toBe("IN_QUEUE");
  const other = await life.jobs.submit(rig.newJob({ id: "other" }));
  expect(life.store.find("other")).toMatchObject({ job: { seq: other?.seq, hasOutput: false }, output: undefined });
});

test("the stream chunks of an unwritten job are not attributed to another job after a kill", async () => {
  const rig = rigOf();
  const id = await rig.run({ operation: "runsync" });
  const seq = rig.live.get(id)?.seq ?? 0;
  await rig.groupCommit.commit(() => rig.store.appendChunks(seq, 0, ['"chunk"']));

  const life = rig.afterKill();
  expect(life.records.find("endpoint", id)?.job.seq).toBe(seq);
  await life.jobs.submit(rig.newJob({ id: "other" }));
  expect(life.store.chunks(rig.live.get(id)?.seq ?? 0, 0, 1000)).toEqual(['"chunk"']);
  expect(life.store.chunks(life.live.get("other")?.seq ?? 0, 0, 1000)).toEqual([]);
});

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
