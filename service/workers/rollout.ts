import type { Worker } from "./registry";
import { byDispensability, generationsOf, type ScalingPlan, type ScalingRules, type ScalingState } from "./scaler";

/** Endpoints whose workers are being replaced. */
export function createRollouts() {
  /** Number of workers at the time of the change, by endpoint id. */
  const sizes = new Map<string, number>();
  /** Endpoints whose source file was saved; their old workers take no more jobs. */
  const restarts = new Set<string>();
  const forget = (endpointId: string): void => {
    sizes.delete(endpointId);
    restarts.delete(endpointId);
  };
  return {
    /**
     * Marks the workers of a changed endpoint as stale; with `restart`, old workers take no more jobs. Returns the workers to end: starting
     * workers (`useless`), and possibly hung workers of `rolledBack` versions that completed no job (`hung`).
     */
    begin(
      endpointId: string,
      workers: Worker[],
      rolledBack: number[],
      restart: boolean,
    ): { useless: Worker[]; hung: Worker[] } {
      if (restart) restarts.add(endpointId);
      else restarts.delete(endpointId);
      const up = workers.filter(({ retiring, firstTakeAt }) => !retiring && firstTakeAt !== undefined);
      const size = Math.max(up.length, sizes.get(endpointId) ?? 0);
      if (size > 0) sizes.set(endpointId, size);
      const proven = new Set(workers.filter(({ worked }) => worked).map(({ version }) => version));
      for (const worker of workers) worker.stale = true;
      return {
        useless: workers.filter(({ firstTakeAt }) => firstTakeAt === undefined),
        hung: workers.filter(({ version = 0 }) => rolledBack.includes(version) && !proven.has(version)),
      };
    },
    /** Returns whether waiting jobs may run on stale workers. */
    keepsJobs: (endpointId: string): boolean => sizes.has(endpointId) && !restarts.has(endpointId),
    /** Adds the starts and stops of the endpoint's rollout to the scaler's plan. */
    plan(endpointId: string, rules: ScalingRules, state: ScalingState, scaled: ScalingPlan): ScalingPlan {
      const before = sizes.get(endpointId);
      if (before === undefined) return scaled;
      const { plan, size } = planRollout(rules, state, scaled, before);
      if (size === undefined) forget(endpointId);
      else sizes.set(endpointId, size);
      return plan;
    },
    forget,
  };
}

/** Number of workers replaced at a time: a tenth of workersMax, rounded up. */
const atOnce = (workersMax: number): number => Math.ceil(workersMax / 10);

/**
 * Adds the replacement of stale workers to a plan: a few at a time, up to the number of workers at the time of the change, and never
 * beyond workersMax. Stale workers take jobs until a fresh worker is proven. Before that, a stale worker is stopped only if workersMax has
 * no room for a fresh worker, and the last stale worker only if workersMax is 1. Returns the plan and the number of workers at the end of
 * the rollout (`size`), which is undefined when the rollout is over.
 */
export function planRollout(
  rules: ScalingRules,
  state: ScalingState,
  scaled: ScalingPlan,
  before: number,
): { plan: ScalingPlan; size: number | undefined } {
  const { workersMax } = rules;
  const size = Math.min(before - scaled.retire.length, workersMax);
  const staying = state.workers.filter(({ id }) => !scaled.retire.includes(id));
  const { stale, fresh, proven } = generationsOf(staying, state.now);
  const up = fresh.filter(({ phase }) => phase !== "starting").length;
  if (size <= 0 || (stale.length === 0 && up >= size)) return { plan: scaled, size: undefined };

  const leaving = state.leaving + scaled.retire.length;
  const room = workersMax - staying.length - leaving;
  // A possibly broken version gets only the workers needed to prove it, however many jobs wait.
  const mayStart = atOnce(workersMax) - (proven ? fresh.length - up : fresh.length);
  const missing = size - fresh.length;
  const start = Math.max(
    proven ? scaled.start : Math.min(scaled.start, mayStart),
    Math.min(mayStart, missing, room),
    0,
  );

  const replaced = stale.length + up - size;
  const inTheWay = room <= 0 && missing > 0 && mayStart > 0 ? stale.length : 0;
  const mayGo = proven ? Math.max(replaced, inTheWay) : Math.min(inTheWay, workersMax === 1 ? 1 : stale.length - 1);
  const goes = Math.max(0, Math.min(mayGo, stale.length, atOnce(workersMax) - leaving));
  const retired = [...stale].sort(byDispensability).slice(0, goes);

  const settling = fresh.map(({ settledAt }) => settledAt).filter((at) => at > state.now);
  const plan = {
    start,
    retire: [...scaled.retire, ...retired.map(({ id }) => id)],
    reviewAt: Math.min(scaled.reviewAt, ...settling),
  };
  return { plan, size };
}
