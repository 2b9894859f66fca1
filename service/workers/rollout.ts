import type { Worker } from "./registry";
import { byDispensability, generationsOf, type ScalingPlan, type ScalingRules, type ScalingState } from "./scaler";

/** Endpoints whose workers are being replaced. */
export function createRollouts() {
  /** How many workers each endpoint had when it changed. */
  const sizes = new Map<string, number>();
  /** Endpoints with a saved source: none of their old workers takes another job. */
  const restarts = new Set<string>();
  const forget = (endpointId: string): void => {
    sizes.delete(endpointId);
    restarts.delete(endpointId);
  };
  return {
    /**
     * Marks the workers of a changed endpoint as stale; with `restart`, its source files were saved. Returns the workers to end:
     * those that are not up yet, and those that may hang, because they run one of the versions `setBack`, which completed no job.
     */
    begin(
      endpointId: string,
      workers: Worker[],
      setBack: number[],
      restart: boolean,
    ): { useless: Worker[]; hung: Worker[] } {
      if (restart) restarts.add(endpointId);
      else restarts.delete(endpointId);
      const up = workers.filter(({ retiring, firstAskAt }) => !retiring && firstAskAt !== undefined);
      const size = Math.max(up.length, sizes.get(endpointId) ?? 0);
      if (size > 0) sizes.set(endpointId, size);
      const proven = new Set(workers.filter(({ worked }) => worked).map(({ version }) => version));
      for (const worker of workers) worker.stale = true;
      return {
        useless: workers.filter(({ firstAskAt }) => firstAskAt === undefined),
        hung: workers.filter(({ version = 0 }) => setBack.includes(version) && !proven.has(version)),
      };
    },
    /** Returns true if waiting jobs may run on workers that still have to be replaced. */
    keepsJobs: (endpointId: string): boolean => sizes.has(endpointId) && !restarts.has(endpointId),
    /** Adds the starts and stops of the endpoint's rollout to the plan of the scaler. */
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

/** Workers that are replaced at a time: a tenth of workersMax, and at least one. */
const atOnce = (workersMax: number): number => Math.ceil(workersMax / 10);

/**
 * Adds to a plan the replacement of stale workers by as many fresh ones as there were workers at the change (`size`): a few at a
 * time, and never beyond workersMax. Stale workers take jobs until a fresh one is proven. Before that, one of them is stopped only
 * if workersMax has no room for a first fresh one, and the last one only if workersMax is 1. Returns the plan, and the number of
 * workers at the end of the rollout; undefined when it is over.
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
  // A version that may be broken gets no more workers than it takes to find out, however many jobs wait.
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
    lookAt: Math.min(scaled.lookAt, ...settling),
  };
  return { plan, size };
}
