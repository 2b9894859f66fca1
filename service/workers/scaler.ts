/** How an endpoint wants to be scaled; times in ms. */
export interface ScalingRules {
  workersMin: number;
  workersMax: number;
  idleTimeout: number;
  scalerType: "QUEUE_DELAY" | "REQUEST_COUNT";
  /** QUEUE_DELAY: ms that a job may wait. REQUEST_COUNT: jobs per worker. */
  scalerValue: number;
}

/** Input of the scaler. */
export interface ScalingState {
  now: number;
  /** Waiting jobs that may start workers, in take order. */
  waiting: Iterable<{ queuedAt: number }>;
  /** Workers that stay. */
  workers: ScaledWorker[];
  /** Workers that are being stopped: they take no more jobs, but count until they have ended. */
  leaving: number;
}

export interface ScaledWorker {
  id: string;
  phase: "starting" | "idle" | "busy";
  /** When it became idle; for others when it started. */
  since: number;
  /** Jobs it runs that may start workers. */
  jobs: number;
  /** True if its configuration is outdated. */
  stale: boolean;
  /** From when on it can be relied on: it has completed a job, or waits for one undisturbed; Infinity while neither is so. */
  settledAt: number;
}

/**
 * The workers of a rollout. `proven` is whether a fresh worker can be relied on, so that the stale ones may go; it is true also
 * where none is stale.
 */
export function generationsOf(workers: ScaledWorker[], now: number) {
  const stale = workers.filter((worker) => worker.stale);
  const fresh = workers.filter((worker) => !worker.stale);
  return { stale, fresh, proven: stale.length === 0 || fresh.some(({ settledAt }) => settledAt <= now) };
}

export interface ScalingPlan {
  /** Workers to start. */
  start: number;
  /** Workers to let go, busy ones after their job. */
  retire: string[];
  /** When the plan can change without anything happening; Infinity for never. */
  lookAt: number;
}

/** How many workers an endpoint should have (wire facts: scaler). */
export function planWorkers(rules: ScalingRules, state: ScalingState): ScalingPlan {
  const { workersMin, workersMax } = rules;
  const demand = rules.scalerType === "REQUEST_COUNT" ? byRequestCount(rules, state) : byQueueDelay(rules, state);
  const wanted = Math.min(Math.max(demand.workers, workersMin), workersMax);
  const retire = surplus(rules, state, Math.min(Math.max(demand.keep, workersMin), workersMax));
  const start = Math.max(0, Math.min(wanted, workersMax - state.leaving) - state.workers.length);
  return { start, retire: retire.ids, lookAt: Math.min(demand.lookAt, retire.lookAt) };
}

interface Demand {
  /** How many there should be. */
  workers: number;
  /** How many the jobs need, however long they are idle. */
  keep: number;
  lookAt: number;
}

function byRequestCount({ scalerValue, workersMax }: ScalingRules, { waiting, workers }: ScalingState): Demand {
  let jobs = 0;
  for (const _ of waiting) {
    if (jobs >= workersMax * scalerValue) break;
    jobs++;
  }
  // Whatever keeps a worker busy, a job of low priority too, it is in the way of a job that waits.
  const anyWaits = jobs > 0;
  const least = (phase: ScaledWorker["phase"]): number => (anyWaits && phase === "busy" ? 1 : 0);
  for (const worker of workers) jobs += Math.max(worker.jobs, least(worker.phase));
  const wanted = Math.ceil(jobs / scalerValue);
  return { workers: wanted, keep: wanted, lookAt: Number.POSITIVE_INFINITY };
}

/** The first waiting job starts the first worker at once; each job that has waited too long adds one. */
function byQueueDelay({ scalerValue, workersMax }: ScalingRules, { waiting, workers, now }: ScalingState): Demand {
  let late = 0;
  let any = false;
  for (const { queuedAt } of waiting) {
    any = true;
    if (queuedAt + scalerValue > now) return demandOf(queuedAt + scalerValue);
    late++;
    if (late >= workersMax) break;
  }
  return demandOf(Number.POSITIVE_INFINITY);

  function demandOf(lookAt: number): Demand {
    const free = workers.filter(({ phase }) => phase !== "busy").length;
    const more = Math.max(0, late - free);
    const least = any && workers.length === 0 ? 1 : 0;
    const wanted = Math.max(workers.length + more, least);
    return { workers: wanted, keep: more > 0 ? wanted : 0, lookAt };
  }
}

const order = { idle: 0, starting: 1, busy: 2 };

/** Order in which workers are stopped: idle ones first, among them stale ones, among these the longest idle. */
export const byDispensability = (one: ScaledWorker, other: ScaledWorker): number =>
  order[one.phase] - order[other.phase] || Number(other.stale) - Number(one.stale) || one.since - other.since;

/**
 * Workers to stop: all above workersMax, idle ones first, and those idle for too long, down to `keep`. Starting workers,
 * and unproven ones of a rollout, do not count as kept.
 */
function surplus(
  { workersMax, idleTimeout }: ScalingRules,
  { workers, now }: ScalingState,
  keep: number,
): { ids: string[]; lookAt: number } {
  const sorted = [...workers].sort(byDispensability);
  const ids = sorted.slice(0, Math.max(0, workers.length - workersMax)).map(({ id }) => id);
  const staying = sorted.slice(ids.length);
  const { proven } = generationsOf(staying, now);
  let left = staying.filter(({ phase, stale }) => phase !== "starting" && (stale || proven)).length;
  let lookAt = Number.POSITIVE_INFINITY;
  for (const { id, since } of staying.filter(({ phase }) => phase === "idle").sort((a, b) => a.since - b.since)) {
    if (left <= keep) break;
    if (since + idleTimeout > now) {
      lookAt = since + idleTimeout;
      break;
    }
    ids.push(id);
    left--;
  }
  return { ids, lookAt };
}
