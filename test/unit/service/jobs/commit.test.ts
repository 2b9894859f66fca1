import { expect, onTestFinished, test } from "vitest";
import { openLedger } from "./support/ledger-rig";

function rigOf() {
  const rig = openLedger();
  onTestFinished(() => rig.close());
  return rig;
}

test("a failing work fails alone: the others of its transaction are durable", async () => {
  const { committer, jobs, newJob } = rigOf();
  const [first, last] = [newJob(), newJob()];
  const works = [
    committer.commit(() => jobs.insert(first)),
    committer.commit(() => {
      throw new Error("no such luck");
    }),
    committer.commit(() => jobs.insert(last)),
  ];
  const outcomes = await Promise.allSettled(works);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect([jobs.find(first.id)?.status, jobs.find(last.id)?.status]).toEqual(["IN_QUEUE", "IN_QUEUE"]);
});

test("a failing work leaves nothing of itself behind", async () => {
  const { committer, jobs, newJob } = rigOf();
  const job = newJob();
  const work = committer.commit(() => {
    jobs.insert(job);
    throw new Error("half-way");
  });
  await expect(work).rejects.toThrow("half-way");
  expect(jobs.find(job.id)).toBeUndefined();
});

test("what comes in one turn is one transaction, in its order", async () => {
  const { committer, database, jobs, newJob } = rigOf();
  let transactions = 0;
  const { transaction } = database;
  database.transaction = (work) => {
    transactions++;
    return transaction(work);
  };
  const told: string[] = [];
  const made = Array.from({ length: 50 }, () => newJob());
  await Promise.all(
    made.map((job) =>
      committer.commit(
        () => jobs.insert(job),
        () => told.push(job.id),
      ),
    ),
  );
  expect(transactions).toBe(1);
  expect(told).toEqual(made.map(({ id }) => id));
});

test("memory hears of a change only after it is durable, and before the caller", async () => {
  const { committer, jobs, newJob } = rigOf();
  const job = newJob();
  const order: string[] = [];
  await committer
    .commit(
      () => jobs.insert(job),
      () => order.push(jobs.find(job.id) ? "memory" : "too early"),
    )
    .then(() => order.push("caller"));
  expect(order).toEqual(["memory", "caller"]);
});

test("its close commits at once what waits and refuses what comes later", async () => {
  const { committer, jobs, newJob } = rigOf();
  const job = newJob();
  void committer.commit(() => jobs.insert(job));
  committer.close();
  expect(jobs.find(job.id)?.status).toBe("IN_QUEUE");
  await expect(committer.commit(() => jobs.remove(1))).rejects.toThrow("stopping");
});
