import { type JobStatus, jobStatus } from "serverless-compute-api/shapes";
import { describe, expect, test } from "vitest";
import { type JobTrigger, removed, transitions } from "../../../../service/jobs/job";

/** State of a job after a trigger; undefined if the trigger cannot occur in the state. */
function nextState(from: JobStatus, trigger: JobTrigger): JobStatus | typeof removed | undefined {
  const states: readonly JobStatus[] = transitions[trigger].from;
  return states.includes(from) ? transitions[trigger].to : undefined;
}

describe("the table of transitions", () => {
  const rows: [JobStatus, JobTrigger, JobStatus | typeof removed][] = [
    ["IN_QUEUE", "cancel", "CANCELLED"],
    ["IN_PROGRESS", "cancel", "CANCELLED"],
    ["FAILED", "retry", "IN_QUEUE"],
    ["TIMED_OUT", "retry", "IN_QUEUE"],
    ["IN_QUEUE", "purge", removed],
  ];
  test.each(rows)("contains the interface's row: %s by %s to %s", (from, trigger, to) => {
    expect(nextState(from, trigger)).toBe(to);
  });

  test.each(jobStatus.options)("removes a job with an expired ttl in %s", (from) => {
    expect(nextState(from, "outlive")).toBe(removed);
  });

  test("restricts /retry to FAILED and TIMED_OUT, and /purge-queue to queued jobs", () => {
    expect(jobStatus.options.filter((from) => nextState(from, "retry"))).toEqual(["FAILED", "TIMED_OUT"]);
    expect(jobStatus.options.filter((from) => nextState(from, "purge"))).toEqual(["IN_QUEUE"]);
  });

  test("lets a job leave a final state only by /retry or removal", () => {
    const ways = ["COMPLETED", "CANCELLED", "FAILED", "TIMED_OUT"] as const;
    const triggers = Object.keys(transitions);
    const leaving = ways.map((from) => triggers.filter((trigger) => isTrigger(trigger) && nextState(from, trigger)));
    expect(leaving).toEqual([
      ["outlive", "expire"],
      ["outlive", "expire"],
      ["retry", "outlive", "expire"],
      ["retry", "outlive", "expire"],
    ]);
  });
});

const isTrigger = (text: string): text is JobTrigger => text in transitions;
