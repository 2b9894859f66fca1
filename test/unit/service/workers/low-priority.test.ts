import fc from "fast-check";
import { expect, test } from "vitest";
import { defaultTimings } from "../../../../service/jobs/timings";
import { createWorkerRegistry } from "../../../../service/workers/registry";
import { planWorkers, type ScalingPlan, type ScalingRules } from "../../../../service/workers/scaler";
import { scalingState } from "../../../../service/workers/scaling-view";

const now = 1_000_000;

/** A job of an endpoint: it waits, or a worker has it; those above the number of workers are elsewhere. */
interface SomeJob {
  lowPriority: boolean;
  waited: number;
  worker: number | undefined;
}
interface Situation {
  rules: ScalingRules;
  workers: { asked: boolean; retiring: boolean; idleFor: number }[];
  jobs: SomeJob[];
}

const count = fc.nat(4);
const situations: fc.Arbitrary<Situation> = fc.record({
  rules: fc
    .record({
      workersMin: count,
      workersMax: count,
      idleTimeout: fc.constantFrom(1000, 5000),
      scalerType: fc.constantFrom("QUEUE_DELAY" as const, "REQUEST_COUNT" as const),
      scalerValue: fc.integer({ min: 1, max: 4 }),
    })
    .map((rules) => ({
      ...rules,
      workersMax: rules.workersMin + rules.workersMax,
      scalerValue: rules.scalerType === "QUEUE_DELAY" ? rules.scalerValue * 1000 : rules.scalerValue,
    })),
  workers: fc.array(fc.record({ asked: fc.boolean(), retiring: fc.boolean(), idleFor: fc.nat(9000) }), {
    maxLength: 4,
  }),
  jobs: fc.array(
    fc.record({
      lowPriority: fc.boolean(),
      waited: fc.nat(9000),
      worker: fc.option(fc.nat(6), { nil: undefined }),
    }),
    { maxLength: 12 },
  ),
});

/** The scaler's plan for a situation. A worker with any job is busy, even if `looksAt` excludes that job. */
function planOf({ rules, workers, jobs }: Situation, looksAt: (job: SomeJob) => boolean): ScalingPlan {
  const registry = createWorkerRegistry();
  const pressing: { queuedAt: number }[] = [];
  const here = workers.map(({ asked, retiring, idleFor }, index) => {
    const worker = registry.add({ id: `w${index}`, endpointId: "e", local: true, now });
    if (asked || jobs.some((job) => job.worker === index)) worker.firstTakeAt = now;
    return Object.assign(worker, { retiring, idleSince: now - idleFor });
  });
  for (const [place, job] of jobs.entries()) {
    const id = `j${place}`;
    const { lowPriority, waited } = job;
    const worker = job.worker === undefined ? undefined : here[job.worker];
    if (!looksAt(job)) worker?.stopping.set(id, { since: now, sent: true });
    else if (worker) worker.jobs.set(id, { since: now, lowPriority, recovered: false });
    else if (job.worker === undefined) {
      if (!lowPriority) pressing.push({ queuedAt: now - waited });
    } else {
      registry
        .add({ id: `far${place}`, endpointId: "e", local: false, now })
        .jobs.set(id, { since: now, lowPriority, recovered: false });
    }
  }
  const alive = registry.of("e").filter(({ local }) => local);
  return planWorkers(rules, scalingState(pressing, alive, now, defaultTimings));
}

test("jobs of low priority do not change the number of workers", () => {
  fc.assert(
    fc.property(situations, (situation) => {
      const without = planOf(situation, ({ lowPriority }) => !lowPriority);
      expect(planOf(situation, () => true)).toEqual(without);
    }),
    { numRuns: 2000 },
  );
});

const counting: ScalingRules = {
  workersMin: 0,
  workersMax: 3,
  idleTimeout: 5000,
  scalerType: "REQUEST_COUNT",
  scalerValue: 1,
};

test("jobs of remote workers start no worker here", () => {
  const far = { waited: 0, worker: 9 };
  const jobs = [true, false].map((lowPriority) => ({ ...far, lowPriority }));
  expect(planOf({ rules: counting, workers: [], jobs }, () => true)).toMatchObject({ start: 0 });
});

test("a job queued behind one of low priority starts a worker instead of waiting", () => {
  const jobs = [
    { lowPriority: true, waited: 0, worker: 0 },
    { lowPriority: false, waited: 0, worker: undefined },
  ];
  const workers = [{ asked: true, retiring: false, idleFor: 0 }];
  expect(planOf({ rules: counting, workers, jobs }, () => true)).toMatchObject({ start: 1 });
});
