import { compareForRemoval, generationsOf, type ScalingPlan, type ScalingRules, type ScalingState } from "./scaler";
import type { ManagedWorker } from "./worker";

/** Endpoints whose workers are being replaced. */
export function createRollouts() {
  /** Number of workers at the time of the change, by endpoint id. */
  const sizes = new Map<string, number>();
  /** Endpoints whose source file was saved; their old workers take no more jobs. */
  const restarts = new Set<string>();
  const finish = (endpointId: string): void => {
    sizes.delete(endpointId);
    restarts.delete(endpointId);
  };
  return {
    /**
     * Marks the workers of a changed endpoint as outdated; with `restart`, old workers take no more jobs. Returns the workers to end: starting
     * workers (`unstarted`), and possibly hung workers of `rolledBack` versions that completed no job (`hung`).
     */
    start(
      endpointId: string,
      workers: ManagedWorker[],
      rolledBack: number[],
      restart: boolean,
    ): { unstarted: ManagedWorker[]; hung: ManagedWorker[] } {
      if (restart) restarts.add(endpointId);
      else restarts.delete(endpointId);
      const started = workers.filter(({ draining, stage }) => !draining && stage === "ready");
      const size = Math.max(started.length, sizes.get(endpointId) ?? 0);
      if (size > 0) sizes.set(endpointId, size);
      const proven = new Set(workers.filter(({ hasSucceeded }) => hasSucceeded).map(({ version }) => version));
      for (const worker of workers) worker.becameOutdated();
      return {
        unstarted: workers.filter(({ stage }) => stage !== "ready"),
        hung: workers.filter(({ version = 0 }) => rolledBack.includes(version) && !proven.has(version)),
      };
    },
    /** Returns whether waiting jobs may run on outdated workers. */
    keepsJobs: (endpointId: string): boolean => sizes.has(endpointId) && !restarts.has(endpointId),
    /** Adds the starts and stops of the endpoint's rollout to the scaler's plan. */
    plan(endpointId: string, rules: ScalingRules, state: ScalingState, scalingPlan: ScalingPlan): ScalingPlan {
      const previousSize = sizes.get(endpointId);
      if (previousSize === undefined) return scalingPlan;
      const { plan, size } = planRollout(rules, state, scalingPlan, previousSize);
      if (size === undefined) finish(endpointId);
      else sizes.set(endpointId, size);
      return plan;
    },
    finish,
  };
}

/** Number of workers replaced at a time: a tenth of workersMax, rounded up. */
const maxReplacedAtOnce = (workersMax: number): number => Math.ceil(workersMax / 10);

/**
 * Adds the replacement of outdated workers to a plan: a few at a time, up to the number of workers at the time of the change, and never
 * beyond workersMax. Outdated workers take jobs until a fresh worker is proven. Before that, an outdated worker is stopped only if workersMax has
 * no room for a fresh worker, and the last outdated worker only if workersMax is 1. Returns the plan and the number of workers at the end of
 * the rollout (`size`), which is undefined when the rollout is over.
 */
export function planRollout(
  rules: ScalingRules,
  state: ScalingState,
  scalingPlan: ScalingPlan,
  previousSize: number,
): { plan: ScalingPlan; size: number | undefined } {
  const { workersMax } = rules;
  const size = Math.min(previousSize - scalingPlan.drain.length, workersMax);
  const remaining = state.workers.filter(({ id }) => !scalingPlan.drain.includes(id));
  const { outdated, fresh, proven } = generationsOf(remaining, state.now);
  const started = fresh.filter(({ phase }) => phase !== "starting").length;
  if (size <= 0 || (outdated.length === 0 && started >= size)) return { plan: scalingPlan, size: undefined };

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
  return { plan, size };
}
