import fc from "fast-check";
import { limits } from "serverless-compute-api/shapes";

/**
 * An action of a client or a worker. `at` selects a job: a possible target if `fitting`, otherwise any job so far, whose
 * worker may be unknown.
 */
export type Operation =
  | {
      kind: "run";
      endpointId: string;
      operation: "run" | "runsync";
      ttl: number;
      executionTimeout: number | undefined;
      hasWebhook: boolean;
    }
  /** A worker waits for a job; `take` only if a job is queued. */
  | { kind: "take" | "wait"; endpointId: string; worker: number }
  | { kind: "done" | "fail" | "progress"; at: number; fitting: boolean }
  | { kind: "requeue"; at: number; fitting: boolean; reason: "crashed" | "interrupted" | "undelivered" }
  | { kind: "cancel" | "retry" | "refuse"; at: number; fitting: boolean }
  | { kind: "setTtl"; at: number; fitting: boolean; ttl: number }
  | { kind: "purge"; endpointId: string };

/** A step of a history. */
export type Step =
  /** Operations of one turn of the event loop; with `dies` the service is killed before they are durable. */
  | { kind: "turn"; operations: Operation[]; dies: boolean }
  | { kind: "time"; ms: number }
  /** A pass of the expiry, in a history without its own scheduler. */
  | { kind: "pass" };

const kind = <Kind extends string>(...kinds: Kind[]) => fc.constantFrom(...kinds);
const at = fc.nat(11);
const fitting = fc.nat(9).map((chance) => chance > 0);
const endpointId = fc.constantFrom("plain", "strict");
const ttl = fc.oneof(
  fc.integer({ min: limits.ttl.min, max: 3_600_000 }),
  fc.integer({ min: limits.ttl.min, max: 4 * limits.ttl.min }),
);
const executionTimeout = fc.option(fc.integer({ min: limits.executionTimeout.min, max: 60_000 }), { nil: undefined });
const submission = { ttl, executionTimeout, hasWebhook: fc.boolean(), operation: kind("run", "runsync") };

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: kind("run"), endpointId, ...submission }) },
  { weight: 5, arbitrary: fc.record({ kind: kind("take"), endpointId, worker: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ kind: kind("wait"), endpointId, worker: fc.nat(2) }) },
  { weight: 5, arbitrary: fc.record({ kind: kind("done", "fail", "progress"), at, fitting }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: kind("requeue"),
      at,
      fitting,
      reason: kind("crashed", "interrupted", "undelivered"),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: kind("cancel", "retry", "refuse"), at, fitting }) },
  { weight: 1, arbitrary: fc.record({ kind: kind("setTtl"), at, fitting, ttl }) },
  { weight: 1, arbitrary: fc.record({ kind: kind("purge"), endpointId }) },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: kind("turn"),
      operations: fc.array(operation, { minLength: 1, maxLength: 4, size: "max" }),
      dies: fc.constant(false),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: kind("turn"),
      operations: fc.array(operation, { maxLength: 4, size: "max" }),
      dies: fc.constant(true),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: kind("time"), ms: fc.integer({ min: 1, max: 30_000 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: kind("time"), ms: fc.integer({ min: 60_000, max: 2_000_000 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: kind("pass") }) },
);

const submitted = { ttl: 10_000, executionTimeout: undefined, hasWebhook: false, operation: "run" } as const;
const toFirst = { at: 0, fitting: false } as const;

/** Histories that once failed and are too rare for random generation. */
export const knownHistories: { punctual: boolean; steps: Step[] }[] = [
  {
    // A progress update preceded the record of a start, so that no pass was scheduled for the execution timeout.
    punctual: true,
    steps: [
      {
        kind: "turn",
        operations: [{ kind: "run", endpointId: "plain", ...submitted, executionTimeout: 5000 }],
        dies: false,
      },
      {
        kind: "turn",
        operations: [
          { kind: "progress", at: 0, fitting: true },
          { kind: "take", endpointId: "plain", worker: 1 },
        ],
        dies: false,
      },
      { kind: "time", ms: 5000 },
    ],
  },
  {
    // The job was requeued while its assignment to a worker was not yet committed.
    punctual: false,
    steps: [
      { kind: "turn", operations: [{ kind: "run", endpointId: "plain", ...submitted }], dies: false },
      {
        kind: "turn",
        operations: [
          { kind: "wait", endpointId: "plain", worker: 0 },
          { kind: "refuse", ...toFirst },
        ],
        dies: false,
      },
      {
        kind: "turn",
        operations: [
          { kind: "retry", ...toFirst },
          { kind: "refuse", ...toFirst },
          { kind: "retry", ...toFirst },
        ],
        dies: false,
      },
    ],
  },
];

/** A whole history. `punctual`: the expiry runs by its own scheduler; otherwise only the steps `pass` run it. */
export const histories = fc.record({
  punctual: fc.boolean(),
  steps: fc.array(step, { minLength: 1, maxLength: 40, size: "max" }),
});
