import { compareForRemoval, generationsOf, type ScalingPlan, type ScalingRules, type ScalingState } from "./scaler";
import type { ManagedWorker } from "./worker";

/** The replacement of an endpoint's workers after a change. */
export interface Rollout {
  /** Number of workers at the time of the change, and at the end of the rollout. */
  size: number;
  /** True if a source file was saved: the old workers take no more jobs. */
  restart: boolean;
}

/** Returns whether waiting jobs may run on outdated workers. */
export const keepsJobs = (rollout: Rollout | undefined): boolean => rollout !== undefined && !rollout.restart;

/**
 * Marks the workers of a changed endpoint as outdated; with `restart`, old workers take no more jobs. Returns its rollout, and the workers to
 * end: starting workers (`unstarted`), and possibly hung workers of `rolledBack` versions that completed no job (`hung`).
 */
export function startRollout(
  previous: Rollout | undefined,
  workers: ManagedWorker[],
  rolledBack: number[],
  restart: boolean,
): { rollout: Rollout | undefined; unstarted: ManagedWorker[]; hung: ManagedWorker[] } {
  const started = workers.filter(({ draining, stage }) => !draining && stage === "ready");
  const size = Math.max(started.length, previous?.size ?? 0);
  const proven = new Set(workers.filter(({ hasSucceeded }) => hasSucceeded).map(({ version }) => version));
  for (const worker of workers) worker.becameOutdated();
  return {
    rollout: size > 0 ? { size, restart } : undefined,
    unstarted: workers.filter(({ stage }) => stage !== "ready"),
    hung: workers.filter(({ version = 0 }) => rolledBack.includes(version) && !proven.has(version)),
  };
}

/** Number of workers replaced at a time: a tenth of workersMax, rounded up. */
const maxReplacedAtOnce = (workersMax: number): number => Math.ceil(workersMax / 10);

/**
 * Adds the replacement of outdated workers to a plan: a few at a time, up to the number of workers at the time of the change, and never
 * beyond workersMax. Outdated workers take jobs until a fresh worker is proven. Before that, an outdated worker is stopped only if workersMax has
 * no room for a fresh worker, and the last outdated worker only if workersMax is 1. Returns the plan and the rollout, which is undefined when
 * it is over.
 */
export function planRollout(
  rules: ScalingRules,
  state: ScalingState,
  scalingPlan: ScalingPlan,
  previous: Rollout | undefined,
): { plan: ScalingPlan; rollout: Rollout | undefined } {
  if (!previous) return { plan: scalingPlan, rollout: undefined };
  const { workersMax } = rules;
  const size = Math.min(previous.size - scalingPlan.drain.length, workersMax);
  const remaining = state.workers.filter(({ id }) => !scalingPlan.drain.includes(id));
  const { outdated, fresh, proven } = generationsOf(remaining, state.now);
  const started = fresh.filter(({ phase }) => phase !== "starting").length;
  if (size <= 0 || (outdated.length === 0 && started >= size)) return { plan: scalingPlan, rollout: undefined };

  const stopping = state.stopping + scalingPlan.drain.length;
  const capacity = workersMax - remaining.length - stopping;
  // A possibly broken version gets only the workers needed to prove it, however many jobs wait.
  const maxStarts = maxReplacedAtOnce(workersMax) - (proven ? fresh.length - started : fresh.length);
  const missing = size - fresh.length;
  const start = Math.max(
    proven ? scalingPlan.start : Math.min(scalingPlan.start, maxStarts),
    Math.min(maxStarts, missing, capacity),
    0,
  );

  const replacedCount = outdated.length + started - size;
  const blocking = capacity <= 0 && missing > 0 && maxStarts > 0 ? outdated.length : 0;
  const maxStops = proven
    ? Math.max(replacedCount, blocking)
    : Math.min(blocking, workersMax === 1 ? 1 : outdated.length - 1);
  const stopCount = Math.max(0, Math.min(maxStops, outdated.length, maxReplacedAtOnce(workersMax) - stopping));
  const drained = [...outdated].sort(compareForRemoval).slice(0, stopCount);

  const provenTimes = fresh.map(({ provenAt }) => provenAt).filter((time) => time > state.now);
  const plan = {
    start,
    drain: [...scalingPlan.drain, ...drained.map(({ id }) => id)],
    replanAt: Math.min(scalingPlan.replanAt, ...provenTimes),
  };
  return { plan, rollout: { ...previous, size } };
}
