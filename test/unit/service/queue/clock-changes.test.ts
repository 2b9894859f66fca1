import { limits } from "serverless-compute-api/shapes";
import { expect, test } from "vitest";
import { readSubmission } from "../../../../service/api/submission";
import { jobRow } from "../../../../service/console/overview";
import { createExpiry } from "../../../../service/queue/expiry";
import { delayTime, executionTime } from "../../../../service/queue/job";
import { maxSeq } from "../../../../service/queue/list";
import { openJobs, useJobs } from "./support/queue-rig";

const hour = 3_600_000;

type Rig = ReturnType<typeof useJobs>;

/** The last events of a job, and its expected times in the queue and at the worker. All jobs first wait for 2000 ms. */
type End = [name: string, run: (rig: Rig, id: string, atWorker: number) => Promise<unknown>, times: [number, number]];

/** Starts the job, and changes the system time after 200 of 300 ms. */
async function work(rig: Rig, change: number): Promise<void> {
  await rig.take("endpoint", "w");
  await rig.clock.advance(200);
  rig.clock.change(change);
  await rig.clock.advance(100);
}
const atWorker =
  (run: (rig: Rig, id: string) => unknown): End[1] =>
  async (rig, id, change) => {
    await work(rig, change);
    await run(rig, id);
  };

const lose = ({ jobs, worker }: Rig, id: string) => jobs.requeue(id, worker, "crashed", "no");
const complete = ({ jobs, worker }: Rig, id: string) => jobs.finish(id, worker, { output: "1" });

const ends: End[] = [
  ["wait", async () => undefined, [2000, 0]],
  ["are cancelled in the queue", ({ jobs }, id) => jobs.cancel("endpoint", id), [2000, 0]],
  ["are rejected", ({ jobs }, id) => jobs.reject(id, "no"), [2000, 0]],
  ["run", atWorker(() => undefined), [2000, 300]],
  ["complete", atWorker(complete), [2000, 300]],
  [
    "fail",
    atWorker(({ jobs, worker }, id) => jobs.finish(id, worker, { output: undefined, error: "no" })),
    [2000, 300],
  ],
  ["are cancelled", atWorker(({ jobs }, id) => jobs.cancel("endpoint", id)), [2000, 300]],
  [
    "time out",
    atWorker(async ({ clock, expiry }) => {
      await clock.advance(4700);
      await expiry.pass();
    }),
    [2000, 5000],
  ],
  ["lose their worker", atWorker(lose), [2300, 0]],
  [
    "are retried",
    async (rig, id, change) => {
      // The queue's change is the opposite.
      await work(rig, 2 * change);
      await rig.jobs.finish(id, rig.worker, { output: undefined, error: "no" });
      await rig.jobs.retry("endpoint", id);
      await rig.clock.advance(100);
    },
    [100, 0],
  ],
  [
    "crash too often",
    async (rig, id, change) => {
      await work(rig, 2 * change);
      for (; rig.status(id) !== "FAILED"; await rig.take("endpoint", "w")) await lose(rig, id);
    },
    [2300, 0],
  ],
  [
    "lose their worker and complete at the next",
    async (rig, id, change) => {
      await work(rig, change);
      await lose(rig, id);
      await rig.clock.advance(50);
      rig.clock.change(-change);
      await rig.clock.advance(50);
      await work(rig, change);
      await complete(rig, id);
    },
    [2400, 300],
  ],
];
const changes = [
  [-hour, hour],
  [hour, -hour],
] as const;

/** Submits a job that waits for 2000 ms, with a change of the system time after 1000 ms. */
async function waitingJob(change: number) {
  const rig = useJobs();
  const job = rig.newJob({ expiresAt: rig.clock.now() + 10 * hour, executionTimeout: 5000 });
  await rig.jobs.submit(job);
  await rig.clock.advance(1000);
  rig.clock.change(change);
  await rig.clock.advance(1000);
  return { rig, id: job.id };
}

test.each(ends.flatMap(([name, run, times]) => changes.map((change) => [name, ...change, run, times] as const)))(
  "times of jobs that %s ignore changes of the system time by %i ms in the queue and by %i ms at the worker",
  async (_name, inQueue, atWorker, run, times) => {
    const { rig, id } = await waitingJob(inQueue);
    await run(rig, id, atWorker);
    const { list, clock, steady } = rig;
    const results = list.results("endpoint", maxSeq, 10).jobs.map((stored) => stored.job);
    const { jobs: matching } = await list.search("endpoint", {}, maxSeq, 10);
    expect([results.length, matching.length]).toEqual([1, 1]);
    for (const found of [list.find("endpoint", id)?.job, ...results, ...matching]) {
      if (!found) throw new Error("the job is missing");
      expect([delayTime(found, steady.now()), executionTime(found, steady.now())]).toEqual(times);

      // The console's page subtracts the times of its row, or from the current time.
      const { queuedAt, startedAt, finishedAt = clock.now() } = jobRow(found, steady);
      expect(finishedAt, "the retention begins now").toBe(clock.now());
      const executed = startedAt === undefined ? 0 : finishedAt - startedAt;
      expect([(startedAt ?? finishedAt) - queuedAt, executed], "in the console").toEqual(times);
    }
  },
);

test("a waiting job's row in the console does not change while the two clocks differ by a few milliseconds", async () => {
  const { rig, id } = await waitingJob(hour);
  const readRow = () => {
    const found = rig.list.find("endpoint", id)?.job;
    return found && jobRow(found, rig.steady);
  };
  const row = readRow();
  rig.clock.change(3);
  await rig.clock.advance(1000);
  expect(readRow()).toEqual(row);
});

// Only system times are stored, so a restart cannot know the changes since the last state of the job.
test.each([
  [-hour, 300 + hour],
  [hour, 0],
])("a restart adds a change of the system time by %i ms since the last state of a job", async (inQueue, execution) => {
  const { rig, id } = await waitingJob(inQueue);
  await work(rig, -inQueue);
  const { recover, list, clock } = openJobs(rig.killed(), rig.clock);
  recover(() => true);
  const found = list.find("endpoint", id)?.job;
  if (!found) throw new Error("the job is missing");
  expect([delayTime(found, clock.now()), executionTime(found, clock.now())]).toEqual([2000, execution]);
});

/** Rules whose times are system times, because they outlive the service. */
const systemTimes: [rule: string, check: (rig: Rig, change: number) => Promise<void>][] = [
  [
    "a submission has its creation and the end of its ttl as system times",
    async ({ clock, steady }, change) => {
      const { createdAt, queuedAt, expiresAt } = readSubmission("endpoint", "run", '{"input":{}}', steady);
      expect([createdAt, expiresAt]).toEqual([clock.now(), clock.now() + limits.ttl.default]);
      expect(createdAt - queuedAt, "only states have steady times").toBe(change);
    },
  ],
  [
    "a worker gets no job whose ttl has expired, and all others",
    async ({ clock, jobs, newJob }) => {
      const valid = newJob({ expiresAt: clock.now() + 1001 });
      await jobs.submit(newJob({ expiresAt: clock.now() + 1000 }));
      await jobs.submit(valid);
      await clock.advance(1000);
      const taken: string[] = [];
      jobs.wait("endpoint", { workerId: "w", deliver: (all) => void taken.push(...all.map(({ job }) => job.id)) });
      await jobs.submit(newJob());
      expect(taken).toEqual([valid.id]);
    },
  ],
  [
    "results of a running job are stored until its ttl expires",
    async ({ clock, jobs, run, status, worker }) => {
      const id = await run({ expiresAt: clock.now() + 1000 });
      await clock.advance(999);
      expect([status(id), await jobs.progress(id, worker, "1")]).toEqual(["IN_PROGRESS", true]);
      await clock.advance(1);
      expect([status(id), await jobs.progress(id, worker, "1")]).toEqual([undefined, false]);
    },
  ],
  [
    "a result is removed at the end of its retention, and not before",
    async (rig) => {
      const { clock, jobs, run, status, store, worker } = rig;
      const { pass } = createExpiry({ ...rig, clock: rig.steady, log: { error: () => undefined }, sweep: 1 });
      const [first, second] = [await run(), await run()];
      await jobs.finish(first, worker, { output: "1" });
      await clock.advance(1);
      await jobs.finish(second, worker, { output: "1" });
      await clock.advance(limits.retention.run - 2);
      expect(await pass()).toBe(rig.steady.now() + 1);
      expect([first, second].map(status)).toEqual(["COMPLETED", "COMPLETED"]);
      await clock.advance(1);
      expect(await pass()).toBe(rig.steady.now() + 1);
      expect([status(first), store.find(first), status(second)]).toEqual([undefined, undefined, "COMPLETED"]);
      await clock.advance(1);
      expect(await pass()).toBeUndefined();
    },
  ],
];

test.each(
  systemTimes.flatMap(([rule, check]) => [-hour, hour, 8 * 24 * hour].map((change) => [rule, change, check] as const)),
)("%s, after a change of the system time by %i ms", async (_rule, change, check) => {
  const rig = useJobs();
  rig.clock.change(change);
  await check(rig, change);
});
