import { expect, test } from "vitest";
import { ServiceError } from "../../../../service/errors";
import type { Job, JobDelivery } from "../../../../service/queue/job";
import type { WaitingWorker } from "../../../../service/queue/memory";
import { useJobs } from "./support/queue-rig";

/** Creates jobs, and a worker that ends with the service. */
function rigOf() {
  const rig = useJobs();
  const startedJobs: string[] = [];
  const deliver = ([delivery]: readonly JobDelivery[]): void => void startedJobs.push(delivery?.job.id ?? "none");
  const local: WaitingWorker = { workerId: "w", endsWithService: true, deliver };
  const failNextTransaction = (): void => {
    const { transaction } = rig.database;
    let fails = true;
    rig.database.transaction = (work) => {
      if (!fails) return transaction(work);
      fails = false;
      throw new ServiceError("storeFull", "disk full");
    };
  };
  return { ...rig, local, startedJobs, failNextTransaction };
}

test.each([true, false])(
  "a waiting worker receives a submission once it is durable (ends with the service: %s)",
  async (endsWithService) => {
    const rig = rigOf();
    const deliver = ([delivery]: readonly JobDelivery[]): void =>
      void rig.startedJobs.push(`${delivery?.job.id} ${rig.stored()}`);
    rig.jobs.wait("endpoint", { workerId: "w", endsWithService, deliver });
    const job = rig.newJob({ operation: "runsync" });
    const accepted = rig.jobs.submit(job);
    expect(rig.startedJobs).toEqual([]);
    await accepted;
    expect(rig.startedJobs).toEqual([`${job.id} ${job.id} IN_PROGRESS`]);
  },
);

test("a worker that ends with the service starts a queued job immediately, and the next transaction stores the start", async () => {
  const rig = rigOf();
  const job = rig.newJob();
  await rig.jobs.submit(job);
  rig.jobs.wait("endpoint", rig.local);
  expect([rig.startedJobs, rig.status(job.id), rig.active.waiting("endpoint")]).toEqual([[job.id], "IN_PROGRESS", 0]);
  expect(rig.stored()).toEqual([`${job.id} IN_QUEUE`]);
  await expect.poll(() => rig.stored(), { interval: 5 }).toEqual([`${job.id} IN_PROGRESS`]);
});

test("a remote worker starts a queued job once the start is stored", async () => {
  const rig = rigOf();
  const job = rig.newJob();
  await rig.jobs.submit(job);
  const deliver = ([delivery]: readonly JobDelivery[]): void =>
    void rig.startedJobs.push(`${delivery?.job.id} ${rig.stored()}`);
  rig.jobs.wait("endpoint", { workerId: "remote", deliver });
  expect(rig.startedJobs).toEqual([]);
  await expect.poll(() => rig.startedJobs, { interval: 5 }).toEqual([`${job.id} ${job.id} IN_PROGRESS`]);
});

test("a requeued job starts at another waiting worker", async () => {
  const rig = rigOf();
  const id = await rig.run();
  rig.jobs.wait("endpoint", { ...rig.local, workerId: "other" });
  await rig.jobs.requeue(id, rig.worker, "crashed", "lost");
  await expect.poll(() => rig.startedJobs, { interval: 5 }).toEqual([id]);
});

test("a job that starts and ends in one transaction has its result", async () => {
  const rig = rigOf();
  const job = rig.newJob();
  await rig.jobs.submit(job);
  rig.jobs.wait("endpoint", rig.local);
  expect(await rig.jobs.finish(job.id, rig.worker, { output: "1" })).toBe(true);
  expect(rig.stored()).toEqual([`${job.id} COMPLETED`]);
});

test("a start that cannot be stored is stored with the first output, so that a kill requeues the job without that output", async () => {
  const rig = rigOf();
  const [streams, reports] = [rig.newJob(), rig.newJob()];
  for (const job of [streams, reports]) {
    await rig.jobs.submit(job);
    const unlock = rig.lockStore();
    rig.jobs.wait("endpoint", rig.local);
    // It shares the failed transaction of the start.
    await expect(rig.groupCommit.commit(() => undefined)).rejects.toThrow("store is locked");
    unlock();
  }
  expect(rig.stored()).toEqual([`${streams.id} IN_QUEUE`, `${reports.id} IN_QUEUE`]);
  expect(await rig.stream.append(streams.id, rig.worker, { output: "1" })).toBe(true);
  expect(await rig.jobs.progress(reports.id, rig.worker, '"half"')).toBe(true);
  const life = rig.afterKill();
  expect(life.list.find("endpoint", streams.id)?.job).toMatchObject({ status: "IN_QUEUE", chunks: 0, retries: 1 });
  expect(life.list.find("endpoint", reports.id)).toMatchObject({ job: { status: "IN_QUEUE" }, output: undefined });
});

test("a job that is cancelled while a worker takes it ends with a notification that names the worker", async () => {
  const rig = rigOf();
  const job = rig.newJob();
  await rig.jobs.submit(job);
  const ended: string[] = [];
  rig.events.on("ended", ({ id }, before) => void ended.push(`${id} was ${before.status} at ${before.workerId}`));
  const cancellation = rig.jobs.cancel("endpoint", job.id);
  rig.jobs.wait("endpoint", rig.local);
  await cancellation;
  expect(ended).toEqual([`${job.id} was IN_PROGRESS at w`]);
  expect(await rig.jobs.finish(job.id, rig.worker, { output: "1" })).toBe(false);
  expect([rig.status(job.id), rig.stored()]).toEqual(["CANCELLED", [`${job.id} CANCELLED`]]);
});

test("a purge keeps the job that a worker takes at that moment", async () => {
  const rig = rigOf();
  const [first, second] = [rig.newJob(), rig.newJob()];
  await rig.jobs.submit(first);
  await rig.jobs.submit(second);
  const purged = rig.jobs.purge("endpoint");
  rig.jobs.wait("endpoint", rig.local);
  expect(await purged).toBe(1);
  expect([rig.startedJobs, rig.stored()]).toEqual([[first.id], [`${first.id} IN_PROGRESS`]]);
});

test("a submission that cannot be stored is rejected, and no worker receives it", async () => {
  const rig = rigOf();
  rig.jobs.wait("endpoint", rig.local);
  const unlock = rig.lockStore();
  const job = rig.newJob();
  await expect(rig.jobs.submit(job)).rejects.toThrow("store is locked");
  unlock();
  expect([rig.startedJobs, rig.status(job.id)]).toEqual([[], undefined]);
  const next = rig.newJob();
  await rig.jobs.submit(next);
  expect(rig.startedJobs).toEqual([next.id]);
});

test("a job of a lost worker is requeued as soon as the change can be stored", async () => {
  const rig = rigOf();
  rig.jobs.wait("endpoint", rig.local);
  const job = rig.newJob();
  await rig.jobs.submit(job);
  rig.failNextTransaction();
  await expect(rig.jobs.requeue(job.id, rig.worker, "crashed", "lost")).rejects.toThrow("disk full");
  expect([rig.status(job.id), rig.stored()]).toEqual(["IN_PROGRESS", [`${job.id} IN_PROGRESS`]]);
  await rig.clock.advance(1000);
  await expect.poll(() => rig.stored(), { interval: 5 }).toEqual([`${job.id} IN_QUEUE`]);
});

test("each accepted job is counted as queued, running or finished at any time", async () => {
  const rig = rigOf();
  const counted = () =>
    rig.active.waiting("endpoint") + rig.active.running("endpoint") + rig.counters.read("endpoint").COMPLETED;
  const deliver = ([delivery]: readonly JobDelivery[]): void => {
    void rig.jobs.finish(delivery?.job.id ?? "none", rig.worker, { output: "1" });
    rig.jobs.wait("endpoint", { ...rig.local, deliver });
  };
  rig.jobs.wait("endpoint", { ...rig.local, deliver });
  for (let accepted = 1; accepted <= 20; accepted++) {
    await rig.jobs.submit(rig.newJob());
    for (let turn = 0; turn < 5; turn++) {
      expect(counted()).toBe(accepted);
      await new Promise(setImmediate);
    }
  }
});

test("each event is emitted once, after its commit", async () => {
  const rig = rigOf();
  const seen: string[] = [];
  const record =
    (name: string) =>
    ({ id }: Job) =>
      void seen.push(`${name} ${id}: ${rig.stored().join(", ")}`);
  for (const name of ["queued", "started", "ended", "removed", "ttlChanged", "streamed"] as const)
    rig.events.on(name, record(name));
  await rig.jobs.submit(rig.newJob());
  rig.jobs.wait("endpoint", rig.local);
  expect(rig.startedJobs).toEqual(["job-1"]);
  await rig.jobs.requeue("job-1", rig.worker, "crashed", "lost");
  rig.jobs.wait("endpoint", rig.local);
  expect(await rig.jobs.finish("job-1", rig.worker, { output: "1" })).toBe(true);
  rig.jobs.wait("endpoint", rig.local);
  await rig.jobs.submit(rig.newJob());
  await rig.stream.append("job-2", rig.worker, { output: "1" });
  await rig.jobs.setTtl("endpoint", "job-2", 20_000);
  await rig.jobs.cancel("endpoint", "job-2");
  await rig.jobs.submit(rig.newJob());
  await rig.jobs.purge("endpoint");
  expect(seen).toEqual([
    "queued job-1: job-1 IN_QUEUE",
    "started job-1: job-1 IN_QUEUE",
    "queued job-1: job-1 IN_QUEUE",
    "started job-1: job-1 COMPLETED",
    "ended job-1: job-1 COMPLETED",
    "started job-2: job-1 COMPLETED, job-2 IN_PROGRESS",
    "streamed job-2: job-1 COMPLETED, job-2 IN_PROGRESS",
    "ttlChanged job-2: job-1 COMPLETED, job-2 IN_PROGRESS",
    "ended job-2: job-1 COMPLETED, job-2 CANCELLED",
    "queued job-3: job-1 COMPLETED, job-2 CANCELLED, job-3 IN_QUEUE",
    "removed job-3: job-1 COMPLETED, job-2 CANCELLED",
  ]);
});
