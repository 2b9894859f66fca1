/** Scaling rules of an endpoint; times in ms. */
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
  /** Waiting jobs that may start workers, in queue order. */
  waiting: Iterable<{ queuedAt: number }>;
  /** Workers that are not being stopped. */
  workers: ScaledWorker[];
  /** Number of workers being stopped; they take no more jobs, but count until they have ended. */
  stopping: number;
}

export interface ScaledWorker {
  id: string;
  phase: "starting" | "idle" | "busy";
  /** Time at which the worker became idle; if it is not idle, its start time. */
  since: number;
  /** Number of running jobs that may start workers. */
  jobs: number;
  outdated: boolean;
  /** Time from which the worker counts as proven: it has completed a job, or has been idle long enough; Infinity otherwise. */
  provenAt: number;
}

/**
 * Splits workers into outdated and fresh. `proven` is true if a fresh worker counts as proven, so that outdated workers may stop, or if no worker
 * is outdated.
 */
export function generationsOf(workers: ScaledWorker[], now: number) {
  const outdated = workers.filter((worker) => worker.outdated);
  const fresh = workers.filter((worker) => !worker.outdated);
  return { outdated, fresh, proven: outdated.length === 0 || fresh.some(({ provenAt }) => provenAt <= now) };
}

export interface ScalingPlan {
  start: number;
  /** Ids of workers to drain, busy workers after their job. */
  drain: string[];
  /** Time at which the plan may change without an event; Infinity for never. */
  replanAt: number;
}

/** Plans the number of workers of an endpoint (wire facts: scaler). */
export function planWorkers(rules: ScalingRules, state: ScalingState): ScalingPlan {
  const { workersMin, workersMax } = rules;
  const demand = rules.scalerType === "REQUEST_COUNT" ? byRequestCount(rules, state) : byQueueDelay(rules, state);
  const target = Math.min(Math.max(demand.workers, workersMin), workersMax);
  const drain = selectSurplus(rules, state, Math.min(Math.max(demand.required, workersMin), workersMax));
  const start = Math.max(0, Math.min(target, workersMax - state.stopping) - state.workers.length);
  return { start, drain: drain.ids, replanAt: Math.min(demand.replanAt, drain.replanAt) };
}

interface Demand {
  /** Number of workers that there should be. */
  workers: number;
  /** Number of workers that the jobs need; these are kept, even if idle for long. */
  required: number;
  replanAt: number;
}

function byRequestCount({ scalerValue, workersMax }: ScalingRules, { waiting, workers }: ScalingState): Demand {
  let jobs = 0;
  for (const _ of waiting) {
    if (jobs >= workersMax * scalerValue) break;
    jobs++;
  }
  // A busy worker, even with a low-priority job, cannot take a waiting job.
  const hasWaitingJobs = jobs > 0;
  const minimum = (phase: ScaledWorker["phase"]): number => (hasWaitingJobs && phase === "busy" ? 1 : 0);
  for (const worker of workers) jobs += Math.max(worker.jobs, minimum(worker.phase));
  const target = Math.ceil(jobs / scalerValue);
  return { workers: target, required: target, replanAt: Number.POSITIVE_INFINITY };
}

/** The first waiting job starts the first worker immediately; each job that has waited too long adds a worker. */
function byQueueDelay({ scalerValue, workersMax }: ScalingRules, { waiting, workers, now }: ScalingState): Demand {
  let overdue = 0;
  let hasWaitingJobs = false;
  for (const { queuedAt } of waiting) {
    hasWaitingJobs = true;
    if (queuedAt + scalerValue > now) return demandOf(queuedAt + scalerValue);
    overdue++;
    if (overdue >= workersMax) break;
  }
  return demandOf(Number.POSITIVE_INFINITY);

  function demandOf(replanAt: number): Demand {
    const freeCount = workers.filter(({ phase }) => phase !== "busy").length;
    const additional = Math.max(0, overdue - freeCount);
    const minimum = hasWaitingJobs && workers.length === 0 ? 1 : 0;
    const target = Math.max(workers.length + additional, minimum);
    return { workers: target, required: additional > 0 ? target : 0, replanAt };
  }
}

const order = { idle: 0, starting: 1, busy: 2 };

/** Order in which workers are stopped: idle before starting before busy, then outdated workers first, then the longest idle. */
export const compareForRemoval = (a: ScaledWorker, b: ScaledWorker): number =>
  order[a.phase] - order[b.phase] || Number(b.outdated) - Number(a.outdated) || a.since - b.since;

/**
 * Selects workers to stop: workers above workersMax, idle workers first, and workers that have been idle too long, down to `required`. Starting
 * workers, and unproven workers of a rollout, do not count towards `required`.
 */
function selectSurplus(
  { workersMax, idleTimeout }: ScalingRules,
  { workers, now }: ScalingState,
  required: number,
): { ids: string[]; replanAt: number } {
  const candidates = [...workers].sort(compareForRemoval);
  const ids = candidates.slice(0, Math.max(0, workers.length - workersMax)).map(({ id }) => id);
  const remainingWorkers = candidates.slice(ids.length);
  const { proven } = generationsOf(remainingWorkers, now);
  let remainingCount = remainingWorkers.filter(
    ({ phase, outdated }) => phase !== "starting" && (outdated || proven),
  ).length;
  let replanAt = Number.POSITIVE_INFINITY;
  for (const { id, since } of remainingWorkers
    .filter(({ phase }) => phase === "idle")
    .sort((a, b) => a.since - b.since)) {
    if (remainingCount <= required) break;
    if (since + idleTimeout > now) {
      replanAt = since + idleTimeout;
      break;
    }
    ids.push(id);
    remainingCount--;
  }
  return { ids, replanAt };
}
