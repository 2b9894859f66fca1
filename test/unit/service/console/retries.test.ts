import { expect, onTestFinished, test } from "vitest";
import { retryAll } from "../../../../service/console/content";
import { openJobsRig } from "../queue/support/queue-rig";

test("jobs are retried in their order; jobs in other states, unknown jobs and write failures are reported", async () => {
  const { jobs, newJob, active, take, lockStore, close } = openJobsRig();
  onTestFinished(close);
  const worker = { id: "worker", endpointId: "endpoint" };
  for (const id of ["one", "two", "done"]) {
    await jobs.submit(newJob({ id }));
    await take(worker.endpointId, worker.id);
    await jobs.finish(id, worker, id === "done" ? { output: "1" } : { error: "broken", output: undefined });
  }
  const unlock = lockStore("SQLITE_FULL");
  const [failed] = await retryAll(jobs.retry, "endpoint", ["one"]);
  expect(failed).toEqual({ id: "one", reason: expect.stringMatching(/./) });
  unlock();
  expect(await retryAll(jobs.retry, "endpoint", ["one", "done", "unknown", "two"])).toEqual([
    { id: "done", reason: "is COMPLETED; only a FAILED or TIMED_OUT job can be retried" },
    { id: "unknown", reason: "does not exist; its retention has expired" },
  ]);
  expect([...active.all()].map(({ id, status }) => [id, status])).toEqual([
    ["one", "IN_QUEUE"],
    ["two", "IN_QUEUE"],
  ]);
});
