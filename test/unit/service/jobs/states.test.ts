import { type JobStatus, jobStatus } from "serverless-compute-api/shapes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type JobTrigger, jobTriggers, nextState, removed } from "../../../../service/jobs/states";
import { openLedger } from "./support/ledger-rig";

const reachable = (from: JobStatus): Set<JobStatus> => {
  const targets = jobTriggers.map((trigger) => nextState(from, trigger));
  return new Set(targets.filter((target) => target !== undefined && target !== removed));
};

describe("the table of moves", () => {
  const rows: [JobStatus, JobTrigger, JobStatus | typeof removed][] = [
    ["IN_QUEUE", "cancel", "CANCELLED"],
    ["IN_PROGRESS", "cancel", "CANCELLED"],
    ["FAILED", "retry", "IN_QUEUE"],
    ["TIMED_OUT", "retry", "IN_QUEUE"],
    ["IN_QUEUE", "purge", removed],
  ];
  test.each(rows)("has the interface's row: %s by %s to %s", (from, trigger, to) => {
    expect(nextState(from, trigger)).toBe(to);
  });

  test.each(jobStatus.options)("removes a job whose ttl is over in %s", (from) => {
    expect(nextState(from, "outlive")).toBe(removed);
  });

  test("keeps /retry to FAILED and TIMED_OUT, and /purge-queue to waiting jobs", () => {
    expect(jobStatus.options.filter((from) => nextState(from, "retry"))).toEqual(["FAILED", "TIMED_OUT"]);
    expect(jobStatus.options.filter((from) => nextState(from, "purge"))).toEqual(["IN_QUEUE"]);
  });
});

describe("the store", () => {
  let rig: ReturnType<typeof openLedger>;
  beforeAll(() => {
    rig = openLedger();
  });
  afterAll(() => rig.close());

  /** What the columns must be in each state, so that only the move itself can be refused. */
  const columns: Record<JobStatus, string> = {
    IN_QUEUE: "worker_id = NULL, started_at = NULL, finished_at = NULL, error = NULL",
    IN_PROGRESS: "worker_id = 'w', started_at = 1, finished_at = NULL, error = NULL",
    COMPLETED: "worker_id = 'w', started_at = 1, finished_at = 2, error = NULL",
    FAILED: "worker_id = 'w', started_at = 1, finished_at = 2, error = 'x'",
    CANCELLED: "worker_id = 'w', started_at = 1, finished_at = 2, error = NULL",
    TIMED_OUT: "worker_id = 'w', started_at = 1, finished_at = 2, error = 'x'",
  };
  const moveTo = (id: string, to: JobStatus): void => {
    rig.database.prepare(`UPDATE jobs SET status = '${to}', ${columns[to]} WHERE id = ?`).run(id);
  };
  const wayTo: Record<JobStatus, JobStatus[]> = {
    IN_QUEUE: [],
    IN_PROGRESS: ["IN_PROGRESS"],
    COMPLETED: ["IN_PROGRESS", "COMPLETED"],
    FAILED: ["IN_PROGRESS", "FAILED"],
    CANCELLED: ["CANCELLED"],
    TIMED_OUT: ["IN_PROGRESS", "TIMED_OUT"],
  };
  const pairs = jobStatus.options.flatMap((from) => jobStatus.options.map((to) => [from, to] as const));

  test.each(pairs.filter(([from, to]) => from !== to))("refuses or allows %s → %s as the table does", (from, to) => {
    const job = rig.newJob();
    rig.jobs.insert(job);
    for (const step of wayTo[from]) moveTo(job.id, step);
    if (reachable(from).has(to)) expect(() => moveTo(job.id, to)).not.toThrow();
    else expect(() => moveTo(job.id, to)).toThrow(/cannot move/);
  });

  test.each([
    [
      "a COMPLETED job with an error",
      "status = 'COMPLETED', worker_id = 'w', started_at = 1, finished_at = 2, error = 'x'",
    ],
    [
      "a FAILED job without an error",
      "status = 'FAILED', worker_id = 'w', started_at = 1, finished_at = 2, error = NULL",
    ],
    ["a running job without a worker", "status = 'IN_PROGRESS', worker_id = NULL, started_at = 1"],
    ["a state that does not exist", "status = 'DONE'"],
  ])("refuses %s", (_what, set) => {
    const job = rig.newJob();
    rig.jobs.insert(job);
    if (!set.includes("IN_PROGRESS")) moveTo(job.id, "IN_PROGRESS");
    expect(() => rig.database.prepare(`UPDATE jobs SET ${set} WHERE id = ?`).run(job.id)).toThrow(/CHECK|cannot move/);
  });

  test("refuses a job that does not begin IN_QUEUE", () => {
    const insert = rig.database.prepare(`INSERT INTO jobs (id, endpoint_id, operation, status, low_priority, created_at,
      queued_at, place, expires_at, due_at, worker_id, started_at) VALUES ('x', 'e', 'run', 'IN_PROGRESS', 0, 1, 1, 1, 1, 1, 'w', 1)`);
    expect(() => insert.run()).toThrow(/begins IN_QUEUE/);
  });
});
