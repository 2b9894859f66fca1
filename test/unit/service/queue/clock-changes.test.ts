import { expect, test } from "vitest";
import { delayTime, executionTime, presentOf } from "../../../../service/queue/job";
import { maxSeq } from "../../../../service/queue/list";
import { openJobs, useJobs } from "./support/queue-rig";

const hour = 3_600_000;
const worker = { id: "w", endpointId: "endpoint" };

/** Ends of a running job, and its reads before the end. */
const ends = ["complete", "fail", "cancel", "read", "lose its worker", "restart"] as const;
const changes = [
  [-hour, hour],
  [hour, -hour],
] as const;
const rows = ends.flatMap((end) => changes.map(([inQueue, atWorker]) => [end, inQueue, atWorker] as const));

test.each(rows)(
  "times of jobs that %s ignore changes of the system time by %i ms in the queue and by %i ms at the worker",
  async (end, inQueue, atWorker) => {
    const rig = useJobs();
    const job = rig.newJob({ expiresAt: rig.clock.now() + 10 * hour });
    await rig.jobs.submit(job);
    await rig.clock.advance(1000);
    rig.clock.change(inQueue);
    await rig.clock.advance(1000);
    await rig.take("endpoint", "w");
    await rig.clock.advance(200);
    rig.clock.change(atWorker);
    await rig.clock.advance(100);
    let { list } = rig;
    if (end === "complete") await rig.jobs.finish(job.id, worker, { output: "1" });
    if (end === "fail") await rig.jobs.finish(job.id, worker, { output: undefined, error: "no" });
    if (end === "cancel") await rig.jobs.cancel("endpoint", job.id);
    if (end === "lose its worker") await rig.jobs.requeue(job.id, worker, "crashed", "no");
    if (end === "restart") {
      const { recover, ...life } = openJobs(rig.killed(), rig.clock);
      recover(() => true);
      list = life.list;
    }
    // Only system times are stored, so a restart cannot know the changes since the last state of the job.
    const expected = end === "restart" ? [2000, 300 + Math.max(atWorker, -300)] : [2000, 300];
    const results = list.results("endpoint", maxSeq, 10).jobs.map((stored) => stored.job);
    const { jobs: matching } = await list.search("endpoint", {}, maxSeq, 10);
    for (const found of [list.find("endpoint", job.id)?.job, ...results, ...matching]) {
      if (!found) throw new Error("the job is missing");
      const present = presentOf(found, rig.clock);
      const times = [delayTime(found, present), executionTime(found, present)];
      expect(times).toEqual(end === "lose its worker" ? [2300, 0] : expected);
      if (found.finishedAt !== undefined) expect(found.finishedAt, "the retention begins now").toBe(rig.clock.now());
    }
    expect([results.length, matching.length]).toEqual([1, 1]);
  },
);
