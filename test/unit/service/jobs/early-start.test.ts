import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { TakenJob } from "../../../../service/jobs/job";
import type { Taker } from "../../../../service/jobs/ready-queue";
import { openJobsRig } from "./support/jobs-rig";

/** Jobs, and a worker that begins with a job before the store knows. */
function rigOf() {
  const rig = openJobsRig();
  onTestFinished(() => rig.close());
  const begun: string[] = [];
  const takenBack: string[] = [];
  const send = ({ job }: TakenJob): void => void begun.push(job.id);
  const early: Taker = {
    workerId: "w",
    give: send,
    early: { send, takeBack: (id) => void takenBack.push(id) },
  };
  const stored = () =>
    rig.database
      .query("SELECT id, status FROM jobs ORDER BY seq", z.object({ id: z.string(), status: z.string() }))
      .all()
      .map(({ id, status }) => `${id} ${status}`);
  const status = (id: string) => rig.records.find("endpoint", id)?.job.status;
  const failNextTransaction = (): void => {
    const { transaction } = rig.database;
    let fails = true;
    rig.database.transaction = (work) => {
      if (!fails) return transaction(work);
      fails = false;
      throw new Error("disk full");
    };
  };
  return { ...rig, early, begun, takenBack, stored, status, failNextTransaction };
}

test("a worker that waits has a submission at once, and the store before its client knows", async () => {
  const rig = rigOf();
  rig.jobs.await("endpoint", rig.early);
  const job = rig.newJob();
  const accepted = rig.jobs.submit(job);
  expect(rig.begun).toEqual([job.id]);
  await accepted;
  expect(rig.stored()).toEqual([`${job.id} IN_PROGRESS`]);
});

test("a job whose client waits for its end is written once, when it is over", async () => {
  const rig = rigOf();
  rig.jobs.await("endpoint", rig.early);
  const job = rig.newJob({ operation: "runsync" });
  await rig.jobs.submit(job, { wait: true });
  expect([rig.status(job.id), rig.stored()]).toEqual(["IN_PROGRESS", []]);
  expect(await rig.jobs.finish(job.id, "w", { output: "1" })).toBe(true);
  expect(rig.stored()).toEqual([`${job.id} COMPLETED`]);
  expect(rig.records.find("endpoint", job.id)).toMatchObject({ job: { status: "COMPLETED" }, output: "1" });
});

test("a longer one is in the store a moment later, and before /requests reads it", async () => {
  const rig = rigOf();
  rig.jobs.await("endpoint", rig.early);
  const [first, second] = [rig.newJob({ operation: "runsync" }), rig.newJob({ operation: "runsync" })];
  await rig.jobs.submit(first, { wait: true });
  await rig.jobs.writeDeferred();
  expect(rig.stored()).toEqual([`${first.id} IN_PROGRESS`]);
  await rig.jobs.submit(second, { wait: true });
  await rig.jobs.writeDeferred();
  expect(rig.records.page("endpoint", 9, 9).map(({ job }) => job.id)).toEqual([second.id, first.id]);
});

test("what was deferred is left alone once, so that a job that ends meanwhile is written once", async () => {
  const rig = rigOf();
  const [first, second] = [rig.newJob({ operation: "runsync" }), rig.newJob({ operation: "runsync" })];
  await rig.jobs.submit(first, { wait: true });
  await rig.jobs.writeOlder();
  await rig.jobs.submit(second, { wait: true });
  expect(rig.stored()).toEqual([]);
  await rig.jobs.writeOlder();
  expect(rig.stored()).toEqual([`${first.id} IN_QUEUE`]);
  await rig.jobs.writeOlder();
  expect(rig.stored()).toEqual([`${first.id} IN_QUEUE`, `${second.id} IN_QUEUE`]);
});

test("a waiting job that a worker begins is that worker's, also when its end comes in the same transaction", async () => {
  const rig = rigOf();
  const job = rig.newJob();
  await rig.jobs.submit(job);
  rig.jobs.await("endpoint", rig.early);
  expect([rig.begun, rig.live.waiting("endpoint")]).toEqual([[job.id], 1]);
  expect(await rig.jobs.finish(job.id, "w", { output: "1" })).toBe(true);
  expect([rig.stored(), rig.takenBack]).toEqual([[`${job.id} COMPLETED`], []]);
});

test.each(["cancel", "purge"] as const)("a job that %s reaches first is taken back from its worker", async (what) => {
  const rig = rigOf();
  const job = rig.newJob();
  await rig.jobs.submit(job);
  const over = what === "cancel" ? rig.jobs.cancel("endpoint", job.id) : rig.jobs.purge("endpoint");
  rig.jobs.await("endpoint", rig.early);
  await over;
  await expect.poll(() => rig.takenBack, { interval: 5 }).toEqual([job.id]);
  expect(await rig.jobs.finish(job.id, "w", { output: "1" })).toBe(false);
  expect(rig.status(job.id)).toBe(what === "cancel" ? "CANCELLED" : undefined);
  expect(rig.live.waiting("endpoint")).toBe(0);
});

test("a submission that cannot be stored is refused and taken back from its worker", async () => {
  const rig = rigOf();
  rig.jobs.await("endpoint", rig.early);
  rig.failNextTransaction();
  const job = rig.newJob();
  await expect(rig.jobs.submit(job)).rejects.toThrow("disk full");
  expect([rig.begun, rig.takenBack, rig.status(job.id)]).toEqual([[job.id], [job.id], undefined]);
});

test("a waiting job whose start cannot be stored waits again, once", async () => {
  const rig = rigOf();
  const job = rig.newJob();
  await rig.jobs.submit(job);
  rig.failNextTransaction();
  rig.jobs.await("endpoint", rig.early);
  await expect.poll(() => rig.takenBack, { interval: 5 }).toEqual([job.id]);
  expect([rig.status(job.id), rig.live.waiting("endpoint")]).toEqual(["IN_QUEUE", 1]);
  expect((await rig.jobs.take("endpoint", "other", 5)).map((taken) => taken.job.id)).toEqual([job.id]);
});

test("a job that nobody was promised and whose transaction fails is nowhere", async () => {
  const rig = rigOf();
  rig.jobs.await("endpoint", rig.early);
  rig.failNextTransaction();
  const job = rig.newJob({ operation: "runsync" });
  await expect(rig.jobs.submit(job, { wait: true })).rejects.toThrow("disk full");
  await rig.jobs.writeDeferred();
  expect([rig.stored(), rig.live.size]).toEqual([[], 0]);
});
