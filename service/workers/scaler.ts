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
  /** True for a starting worker for which nothing has room. */
  throttled: boolean;
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
  const required = Math.min(Math.max(demand.required, workersMin), workersMax);
  const drain = selectSurplus(rules, state, { ...demand, required });
  const start = Math.max(0, Math.min(target, workersMax - state.stopping) - state.workers.length);
  return { start, drain: drain.ids, replanAt: Math.min(demand.replanAt, drain.replanAt) };
}

interface Demand {
  /** Number of workers that there should be. */
  workers: number;
  /** Number of workers that the jobs need; these are kept, even if idle for long. */
  required: number;
  /** Number of throttled workers that the waiting jobs need. */
  throttled: number;
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
  const throttled = Math.max(0, target - workers.filter((worker) => !worker.throttled).length);
  return { workers: target, required: target, throttled, replanAt: Number.POSITIVE_INFINITY };
}

/** The first waiting job starts the first worker immediately; each job that has waited too long adds a worker. */
function byQueueDelay({ scalerValue, workersMax }: ScalingRules, { waiting, workers, now }: ScalingState): Demand {
  const throttledCount = workers.filter(({ throttled }) => throttled).length;
  let overdue = 0;
  let waitingCount = 0;
  let replanAt = Number.POSITIVE_INFINITY;
  for (const { queuedAt } of waiting) {
    waitingCount++;
    if (queuedAt + scalerValue > now) replanAt = Math.min(replanAt, queuedAt + scalerValue);
    else if (replanAt === Number.POSITIVE_INFINITY) overdue++;
    if (overdue >= workersMax || (replanAt < Number.POSITIVE_INFINITY && waitingCount >= throttledCount)) break;
  }
  const freeCount = workers.filter(({ phase }) => phase !== "busy").length;
  const additional = Math.max(0, overdue - freeCount);
  const minimum = waitingCount > 0 && workers.length === 0 ? 1 : 0;
  const target = Math.max(workers.length + additional, minimum);
  return { workers: target, required: additional > 0 ? target : 0, throttled: waitingCount, replanAt };
}

const order = { idle: 0, starting: 1, busy: 2 };

/** Order in which workers are stopped: throttled before idle before starting before busy, then outdated workers first, then the oldest. */
export const compareForRemoval = (a: ScaledWorker, b: ScaledWorker): number =>
  Number(b.throttled) - Number(a.throttled) ||
  order[a.phase] - order[b.phase] ||
  Number(b.outdated) - Number(a.outdated) ||
  a.since - b.since;

/**
 * Selects workers to stop: workers above workersMax, and workers that nothing has needed for idleTimeout: started workers down to `required`,
 * outdated workers first, and throttled workers down to the number that waiting jobs need. Starting workers, and unproven workers of a
 * rollout, do not count towards `required`.
 */
function selectSurplus(
  { workersMin, workersMax, idleTimeout }: ScalingRules,
  { workers, now }: ScalingState,
  needed: Pick<Demand, "required" | "throttled">,
): { ids: string[]; replanAt: number } {
  const candidates = [...workers].sort(compareForRemoval);
  const excess = candidates.slice(0, Math.max(0, workers.length - workersMax));
  const remaining = candidates.slice(excess.length);
  const { outdated, proven } = generationsOf(remaining, now);
  const unusedAt = ({ phase, throttled, since }: ScaledWorker): number =>
    phase === "idle" || throttled ? since + idleTimeout : Number.POSITIVE_INFINITY;
  const isUnused = (worker: ScaledWorker): boolean => unusedAt(worker) <= now;

  const counted = remaining.filter((worker) => worker.phase !== "starting" && (worker.outdated || proven));
  // An outdated worker gets only jobs for which no fresh worker is free, so it got none while a fresh worker was unused.
  const hasUnusedFresh = counted.some((worker) => !worker.outdated && isUnused(worker));
  const unused = counted
    .filter((worker) => isUnused(worker) || (worker.outdated && hasUnusedFresh))
    .sort((a, b) => Number(b.outdated) - Number(a.outdated))
    .slice(0, Math.max(0, counted.length - needed.required));

  const throttled = remaining.filter((worker) => worker.throttled);
  const others = remaining.length - throttled.length - unused.length;
  // A rollout starts workers without jobs.
  const minThrottled = outdated.length > 0 ? throttled.length : Math.max(needed.throttled, workersMin - others);
  const unneeded = throttled.filter(isUnused).slice(0, Math.max(0, throttled.length - minThrottled));

  /** The time at which another of these workers becomes unused, if more than `min` remain. */
  const nextTime = (all: ScaledWorker[], stopped: ScaledWorker[], min: number): number => {
    const rest = all.filter((worker) => !stopped.includes(worker));
    return rest.length > min ? Math.min(...rest.map(unusedAt)) : Number.POSITIVE_INFINITY;
  };
  return {
    ids: [...excess, ...unused, ...unneeded].map(({ id }) => id),
    replanAt: Math.min(nextTime(counted, unused, needed.required), nextTime(throttled, unneeded, minThrottled)),
  };
}
