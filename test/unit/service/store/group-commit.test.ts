import { systemClock } from "serverless-compute-api/clock";
import { expect, test } from "vitest";
import { type NewJob, toQueued } from "../../../../service/queue/job";
import { steadyClock } from "../../../../service/steady-clock";
import { createGroupCommit } from "../../../../service/store/group-commit";
import { useJobs } from "../queue/support/queue-rig";

function rigOf() {
  const rig = useJobs();
  const { store, database } = rig;
  const { transaction } = database;
  const count = { transactions: 0 };
  database.transaction = (work) => {
    count.transactions++;
    return transaction(work);
  };
  const add = (job: NewJob) => store.insert(toQueued(job, store.nextSeq(), store.nextPosition()), job);
  return { ...rig, add, count };
}

test("a failing task does not affect the other tasks of its transaction", async () => {
  const { groupCommit, store, add, newJob } = rigOf();
  const [first, last] = [newJob(), newJob()];
  const works = [
    groupCommit.commit(() => add(first)),
    groupCommit.commit(() => {
      throw new Error("no such luck");
    }),
    groupCommit.commit(() => add(last)),
  ];
  const outcomes = await Promise.allSettled(works);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect([store.find(first.id)?.job.status, store.find(last.id)?.job.status]).toEqual(["IN_QUEUE", "IN_QUEUE"]);
});

test.each(["SQLITE_BUSY", "SQLITE_READONLY"])(
  "%s fails all tasks of a transaction at once: none is repeated alone",
  async (code) => {
    const { groupCommit, lockStore, add, newJob, count, store } = rigOf();
    const unlock = lockStore(code);
    const created = Array.from({ length: 50 }, () => newJob());
    const outcomes = await Promise.allSettled(created.map((job) => groupCommit.commit(() => add(job))));
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(["rejected"]));
    expect(count.transactions).toBe(1);
    unlock();
    await Promise.all(created.map((job) => groupCommit.commit(() => add(job))));
    expect(created.every(({ id }) => store.find(id))).toBe(true);
  },
);

test("tasks of one turn of the event loop share a transaction, and complete in order", async () => {
  const { groupCommit, database, count, add, newJob } = rigOf();
  const reported: string[] = [];
  const created = Array.from({ length: 50 }, () => newJob());
  await Promise.all(
    created.map((job) =>
      groupCommit.commit(() => {
        add(job);
        database.afterCommit(() => reported.push(job.id));
      }),
    ),
  );
  expect(count.transactions).toBe(1);
  expect(reported).toEqual(created.map(({ id }) => id));
});

test("a lone task is committed at the end of its turn", async () => {
  const { groupCommit, store, add, newJob } = rigOf();
  const job = newJob();
  const committed = groupCommit.commit(() => add(job));
  expect(store.find(job.id)).toBeUndefined();
  await new Promise(setImmediate);
  expect(store.find(job.id)?.job.status).toBe("IN_QUEUE");
  await committed;
});

test("several tasks wait for the tasks of the next turn, and are committed with them", async () => {
  const { groupCommit, store, add, newJob, count } = rigOf();
  const jobs = [newJob(), newJob(), newJob()];
  const [, , last] = jobs;
  const started = jobs.slice(0, 2).map((job) => groupCommit.commit(() => add(job)));
  await new Promise(setImmediate);
  expect(jobs.map(({ id }) => store.find(id))).toEqual([undefined, undefined, undefined]);
  await Promise.all([...started, groupCommit.commit(() => last && add(last))]);
  expect(jobs.map(({ id }) => store.find(id)?.job.status)).toEqual(["IN_QUEUE", "IN_QUEUE", "IN_QUEUE"]);
  expect(count.transactions).toBe(1);
});

test("tasks that keep arriving are committed after 3 ms", async () => {
  const { database, count } = rigOf();
  let now = 0;
  const { commit } = createGroupCommit(database, steadyClock({ ...systemClock, now: () => now }));
  void commit(() => 1);
  for (; now <= 3; now++) {
    void commit(() => 1);
    await new Promise(setImmediate);
    expect(count.transactions).toBe(now < 3 ? 0 : 1);
  }
});

test("a write before the commit runs once, after all tasks of the transaction, and fails with them", async () => {
  const { groupCommit, store, add, newJob } = rigOf();
  const [first, second] = [newJob(), newJob()];
  const order: string[] = [];
  const work = (job: NewJob, fails: boolean) =>
    groupCommit.commit(() => {
      add(job);
      order.push(`work of ${job.id}`);
      groupCommit.beforeCommit(() => {
        order.push(`write of ${job.id}`);
        if (fails) throw new Error("disk full");
      });
    });
  await Promise.all([work(first, false), work(second, false)]);
  const expected = [first, second].map(({ id }) => `work of ${id}`);
  expect(order).toEqual([...expected, ...[first, second].map(({ id }) => `write of ${id}`)]);
  const third = newJob();
  await expect(work(third, true)).rejects.toThrow("disk full");
  expect(store.find(third.id)).toBeUndefined();
  groupCommit.beforeCommit(() => order.push("outside"));
  expect(order.at(-1)).toBe("outside");
});

test("a callback of the commit runs once a change is durable, before the caller continues and outside of the transaction", async () => {
  const { groupCommit, database, store, add, newJob } = rigOf();
  const job = newJob();
  const order: string[] = [];
  await groupCommit
    .commit(() => {
      add(job);
      database.afterCommit(() => {
        order.push(store.find(job.id) ? "callback" : "too early");
        groupCommit.beforeCommit(() => order.push("write"));
      });
    })
    .then(() => order.push("caller"));
  expect(order).toEqual(["callback", "write", "caller"]);
});

test("closing commits pending tasks immediately and rejects later tasks", async () => {
  const { groupCommit, store, add, newJob } = rigOf();
  const job = newJob();
  void groupCommit.commit(() => add(job));
  groupCommit.close();
  expect(store.find(job.id)?.job.status).toBe("IN_QUEUE");
  await expect(groupCommit.commit(() => store.remove(1))).rejects.toThrow("stopping");
});

test("memory changes are undone in reverse order if the transaction fails", async () => {
  const { groupCommit } = rigOf();
  const memory = ["before"];
  const set = (value: string) => {
    memory.push(value);
    groupCommit.onRollback(() => void memory.pop());
  };
  const works = [
    groupCommit.commit(() => set("kept")),
    groupCommit.commit(() => {
      set("undone");
      set("also undone");
      throw new Error("no such luck");
    }),
  ];
  await Promise.allSettled(works);
  expect(memory).toEqual(["before", "kept"]);
});

test("large tasks, and many tasks, are spread over several transactions", async () => {
  const { groupCommit, count } = rigOf();
  const megabytes = 3 * 1024 * 1024;
  await Promise.all(Array.from({ length: 4 }, () => groupCommit.commit(() => 1, megabytes)));
  expect(count.transactions).toBe(2);
  await Promise.all(Array.from({ length: 257 }, () => groupCommit.commit(() => 1)));
  expect(count.transactions).toBe(4);
});
