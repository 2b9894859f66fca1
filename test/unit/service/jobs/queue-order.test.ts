import { expect, onTestFinished, test } from "vitest";
import { createJobQueues } from "../../../../service/jobs/queues";
import { jobPlaces } from "../../../../service/store/jobs-schema";
import { openLedger } from "./support/ledger-rig";

/** A ledger with its queues. */
function rigOf() {
  const rig = openLedger();
  onTestFinished(() => rig.close());
  const queue = createJobQueues(rig.jobs, rig.events).of("endpoint");
  return {
    ...rig,
    queue,
    order: () => [...queue.entries()].map(({ id }) => id),
    submit: async (id: string) => void (await rig.ledger.submit(rig.newJob({ id }))),
    /** The order after a restart of the service. */
    orderAfterRestart() {
      const queues = createJobQueues(rig.jobs, rig.events);
      queues.rebuild([]);
      return [...queues.of("endpoint").entries()].map(({ id }) => id);
    },
  };
}

async function take(rig: ReturnType<typeof rigOf>): Promise<string> {
  const entry = rig.queue.take();
  if (!entry) throw new Error("no job waits");
  await rig.ledger.take(entry.id, "w");
  return entry.id;
}

test("a job that is given back comes before others of the same millisecond that came after it", async () => {
  const rig = rigOf();
  for (const id of ["a", "b", "c"]) await rig.submit(id);
  const first = await take(rig);
  await take(rig);
  await rig.ledger.giveBack(first, "w", "crashed", "lost");
  expect(rig.order()).toEqual(["a", "c"]);
  await rig.ledger.giveBack("b", "w", "crashed", "lost");
  expect(rig.order()).toEqual(["a", "b", "c"]);
  expect(rig.orderAfterRestart()).toEqual(["a", "b", "c"]);
});

test("a clock that is set back lets no job overtake an older one", async () => {
  const rig = rigOf();
  await rig.submit("before");
  await rig.clock.advance(-3_600_000);
  await rig.submit("after");
  expect(rig.order()).toEqual(["before", "after"]);
  expect(rig.orderAfterRestart()).toEqual(["before", "after"]);
});

test("a job that is retried waits behind all others", async () => {
  const rig = rigOf();
  await rig.submit("a");
  await take(rig);
  await rig.ledger.finish("a", "w", { error: "failed", output: undefined });
  await rig.submit("b");
  await rig.ledger.retry("endpoint", "a");
  expect(rig.order()).toEqual(["b", "a"]);
  expect(rig.orderAfterRestart()).toEqual(["b", "a"]);
});

test("a store of an older release keeps its queue's order", async () => {
  const rig = rigOf();
  for (const [id, queuedAt] of [
    ["third", 9],
    ["first", 1],
    ["second", 1],
  ] as const) {
    const job = rig.newJob({ id, createdAt: queuedAt });
    rig.jobs.insert(job);
  }
  for (const back of ["DROP INDEX jobs_live", "ALTER TABLE jobs DROP COLUMN place"]) rig.database.prepare(back).run();
  for (const statement of jobPlaces.split(";")) if (statement.trim() !== "") rig.database.prepare(statement).run();
  expect(rig.orderAfterRestart()).toEqual(["first", "second", "third"]);
});
