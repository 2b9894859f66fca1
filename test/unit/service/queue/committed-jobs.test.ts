import { expect, test } from "vitest";
import type { JobDelivery } from "../../../../service/queue/job";
import { openJobs, useJobs } from "./support/queue-rig";

test("acknowledged changes are stored and survive a kill", async () => {
  const rig = useJobs();
  const done = await rig.run({ input: '{\n "a": "ü\\n"}' });
  const failed = await rig.run({ s3Config: '{"bucketName": "b"}' });
  await rig.jobs.finish(done, rig.worker, { output: '{\n"b": 1}' });
  await rig.jobs.finish(failed, rig.worker, { error: "no", output: undefined });
  expect(rig.stored()).toEqual([`${done} COMPLETED`, `${failed} FAILED`]);
  for (const life of [rig, rig.afterKill()]) {
    expect(life.list.find("endpoint", done)).toMatchObject({ job: { status: "COMPLETED" }, output: '{\n"b": 1}' });
    expect(life.list.find("endpoint", failed)).toMatchObject({ job: { status: "FAILED", error: "no" } });
    expect(life.store.payload(1)?.input).toBe('{\n "a": "ü\\n"}');
    expect(life.store.payload(2)?.s3Config).toBe('{"bucketName": "b"}');
    expect(life.counters.read("endpoint")).toEqual({ COMPLETED: 1, FAILED: 1, CANCELLED: 0, TIMED_OUT: 0, retried: 0 });
  }
});

test("a removed job ends the waits for it and does not return after a kill", async () => {
  const rig = useJobs();
  const removed: string[] = [];
  rig.events.on("removed", ({ endpointId }) => void removed.push(endpointId));
  await rig.jobs.submit(rig.newJob({ endpointId: "other" }));
  await rig.jobs.submit(rig.newJob());
  expect(await rig.jobs.purge("endpoint")).toBe(1);
  await rig.jobs.removeEndpoint("other");
  expect(rig.stored()).toEqual([]);
  expect(removed).toEqual(["endpoint", "other"]);
});

test.each([
  ["SQLITE_FULL", "storeFull", "disk full"],
  ["SQLITE_READONLY", "storeUnavailable", "data folder is read-only"],
  ["SQLITE_BUSY", "storeUnavailable", "store is locked"],
])(
  "a submission of any operation that fails with %s is rejected immediately with the reason",
  async (code, kind, reason) => {
    const rig = useJobs();
    rig.lockStore(code);
    for (const operation of ["run", "runsync", "openai"] as const) {
      const error = { code: kind, message: expect.stringContaining(reason) };
      await expect(rig.jobs.submit(rig.newJob({ operation }))).rejects.toMatchObject(error);
    }
    expect(rig.active.waiting("endpoint")).toBe(0);
  },
);

test("a change that cannot be stored is rejected, and memory is unchanged", async () => {
  const rig = useJobs();
  const running = await rig.run();
  const unlock = rig.lockStore();
  await expect(rig.jobs.submit(rig.newJob())).rejects.toThrow("store is locked");
  await expect(rig.jobs.finish(running, rig.worker, { output: "1" })).rejects.toThrow("store is locked");
  unlock();
  expect(rig.active.waiting("endpoint")).toBe(0);
  expect(rig.list.find("endpoint", running)?.job.status).toBe("IN_PROGRESS");
  expect(rig.counters.read("endpoint").COMPLETED).toBe(0);
  expect(await rig.jobs.finish(running, rig.worker, { output: "2" })).toBe(true);
  expect(rig.afterKill().list.find("endpoint", running)).toMatchObject({ output: "2" });
});

test("while the store cannot be written, the polls of workers add no retries; the first after it gets the waiting job", async () => {
  const rig = useJobs();
  await rig.jobs.submit(rig.newJob());
  const unlock = rig.lockStore("SQLITE_FULL");
  const delivered: string[] = [];
  const waiter = {
    workerId: "w",
    deliver: ([delivery]: readonly JobDelivery[]) => delivered.push(delivery?.job.id ?? ""),
  };
  const sleepers = rig.clock.waiting;
  for (let poll = 0; poll < 20; poll++) {
    rig.jobs.wait("endpoint", waiter);
    await rig.clock.advance(1500);
    rig.jobs.stopWaiting("endpoint", waiter);
  }
  expect(rig.clock.waiting - sleepers).toBe(1);
  rig.jobs.wait("endpoint", waiter);
  unlock();
  await rig.clock.advance(1500);
  expect(delivered).toEqual(["job-1"]);
  expect(rig.clock.waiting - sleepers).toBe(0);
  rig.jobs.wait("endpoint", waiter);
  await rig.jobs.submit(rig.newJob());
  expect(delivered).toEqual(["job-1", "job-2"]);
});

test("a failed removal leaves the counters unchanged", async () => {
  const rig = useJobs();
  await rig.jobs.finish(await rig.run(), rig.worker, { output: "1" });
  const unlock = rig.lockStore();
  await expect(rig.jobs.removeEndpoint("endpoint")).rejects.toThrow("store is locked");
  unlock();
  expect(rig.counters.read("endpoint").COMPLETED).toBe(1);
});

test("a failed job with an output that is retried and cancelled in one transaction has no output", async () => {
  const rig = useJobs();
  const id = await rig.run();
  await rig.jobs.finish(id, rig.worker, { error: "no", output: '"old"' });
  expect(rig.store.find(id)).toMatchObject({ job: { status: "FAILED" }, output: '"old"' });
  await Promise.all([rig.jobs.retry("endpoint", id), rig.jobs.cancel("endpoint", id)]);
  expect(rig.store.find(id)).toMatchObject({ job: { status: "CANCELLED" }, output: undefined });
});

test("a cancelled job keeps its last progress; a requeued job and a job that completes without an output lose it", async () => {
  const rig = useJobs();
  const [cancelled, completed, requeued] = [await rig.run(), await rig.run(), await rig.run()];
  for (const id of [cancelled, completed, requeued]) await rig.jobs.progress(id, rig.worker, '"half"');
  const outputs: unknown[] = [];
  rig.events.on("ended", (_job, _before, output) => void outputs.push(output));
  await rig.jobs.cancel("endpoint", cancelled);
  await rig.jobs.finish(completed, rig.worker, { output: undefined });
  await rig.jobs.requeue(requeued, rig.worker, "crashed", "lost");
  expect(rig.store.find(cancelled)).toMatchObject({ job: { status: "CANCELLED", hasOutput: true }, output: '"half"' });
  const { job, output } = rig.store.find(completed) ?? {};
  expect([job?.status, job?.hasOutput, output]).toEqual(["COMPLETED", false, undefined]);
  expect(outputs).toEqual(['"half"', undefined]);
  expect(rig.afterKill().list.find("endpoint", requeued)?.job.hasOutput).toBe(false);
});

test("a job fails when its worker crashes a third time; interruptions and undelivered starts do not count", async () => {
  const rig = useJobs();
  const id = await rig.run();
  for (const reason of ["undelivered", "interrupted", "crashed", "interrupted", "crashed", "undelivered"] as const) {
    await rig.jobs.requeue(id, rig.worker, reason, "the worker crashed");
    await rig.take("endpoint", "w");
  }
  expect(rig.list.find("endpoint", id)?.job).toMatchObject({ status: "IN_PROGRESS", retries: 4, crashes: 2 });
  await rig.jobs.requeue(id, rig.worker, "crashed", "the worker crashed");
  expect(rig.list.find("endpoint", id)?.job).toMatchObject({ status: "FAILED", error: "the worker crashed" });
});

test("a submission to an endpoint that has been deleted is rejected", async () => {
  const rig = useJobs();
  const { jobs } = openJobs(rig.database, rig.clock, () => undefined);
  await expect(jobs.submit(rig.newJob())).rejects.toThrow('endpoint "endpoint" not found');
});

test("the body of a webhook is the job's record with its input and webhook", async () => {
  const rig = useJobs();
  const id = await rig.run({ webhook: "http://127.0.0.1:9/" });
  await rig.jobs.requeue(id, rig.worker, "crashed", "lost");
  await rig.clock.advance(1000);
  await rig.take("endpoint", "w");
  await rig.clock.advance(500);
  await rig.jobs.finish(id, rig.worker, { error: "no", output: "1.0" });
  expect(rig.webhooks.load(1)?.body).toBe(
    `{"id":"${id}","status":"FAILED","delayTime":1000,"executionTime":500,"workerId":"w","retries":1,"error":"no","output":1.0,"input":{},"webhook":"http://127.0.0.1:9/"}`,
  );
});

test("a running job whose worker outlives the service keeps its worker; the others are requeued", async () => {
  const rig = useJobs();
  const externalJob = await rig.run();
  await rig.jobs.submit(rig.newJob({ id: "lost" }));
  await rig.take("endpoint", "other");
  const life = openJobs(rig.killed(), rig.clock);
  expect(life.recover((worker) => worker === "w").runningJobs.map(({ id }) => id)).toEqual([externalJob]);
  expect(life.list.find("endpoint", externalJob)?.job).toMatchObject({ status: "IN_PROGRESS", workerId: "w" });
  expect(life.list.find("endpoint", "lost")?.job).toMatchObject({ status: "IN_QUEUE", hasOutput: false });
});

test("a stop commits the pending changes", async () => {
  const rig = useJobs();
  const submission = rig.jobs.submit(rig.newJob());
  await rig.stop();
  expect(rig.stored()).toEqual(["job-1 IN_QUEUE"]);
  await submission;
});
