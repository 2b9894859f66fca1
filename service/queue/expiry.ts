import type { Logger } from "pino";
import { limits } from "serverless-compute-api/shapes";
import { createScheduler } from "../scheduler";
import type { SteadyClock } from "../steady-clock";
import type { GroupCommit } from "../store/group-commit";
import type { ServiceTimings } from "../timings";
import type { JobEvents } from "./events";
import {
  canTransition,
  type FinalJob,
  isFinal,
  type Job,
  type JobOperation,
  type LiveJob,
  type RunningJob,
  toTimedOut,
} from "./job";
import type { ActiveJobs } from "./memory";
import type { Jobs } from "./queue";
import type { JobStore } from "./store";

type JobDeadlines = ReturnType<typeof createDeadlines>;

/**
 * Computes the deadlines of jobs. ttl and retention survive restarts, so they follow the system time. `executionTimeout` returns an endpoint's
 * execution timeout, ms.
 */
export function createDeadlines(
  executionTimeout: (endpointId: string) => number | undefined,
  { runRetention, runsyncRetention }: Pick<ServiceTimings, "runRetention" | "runsyncRetention">,
  clock: SteadyClock,
) {
  const retention: Record<JobOperation, number> = {
    run: runRetention,
    runsync: runsyncRetention,
    openai: runsyncRetention,
  };
  /** The job's execution timeout, ms; defaults to the endpoint's timeout, then to the service's default. */
  const executionLimit = (job: Job): number =>
    job.executionTimeout ?? executionTimeout(job.endpointId) ?? limits.executionTimeout.default;
  const executionTimeLeft = (job: RunningJob): number => job.startedAt + executionLimit(job) - clock.now();
  const ttlLeft = (job: Job): number => job.expiresAt - clock.system.now();
  /** The system time of a finished job's removal. */
  const dueAt = (job: FinalJob): number =>
    Math.min(job.finishedAt + clock.systemChange() + retention[job.operation], job.expiresAt);

  return {
    executionLimit,
    dueAt,
    /** The time until the next deadline, ms; negative if it has passed. */
    timeLeft: (job: LiveJob): number =>
      job.status === "IN_PROGRESS" ? Math.min(executionTimeLeft(job), ttlLeft(job)) : ttlLeft(job),
    /** Returns whether the job times out before its ttl expires. */
    timesOut: (job: RunningJob): boolean => executionTimeLeft(job) < ttlLeft(job),
    /**
     * Returns whether the job is hidden from clients. An expired job is hidden even before its removal. A job whose execution timeout has
     * passed remains visible until its ttl expires.
     */
    isExpired: (job: Job): boolean => (isFinal(job) ? dueAt(job) : job.expiresAt) <= clock.system.now(),
  };
}

/** Interval of the checks for changes of the system time, ms. */
const timeCheckInterval = 10_000;

/** Maximum jobs per transaction; the process sends no responses during a transaction. */
const batchSize = { live: 100, final: 500 } as const;

/**
 * Applies deadlines to jobs: ttl, execution timeouts and the end of retention. A pass reads all unfinished jobs. It runs at the earliest
 * deadline of a running job, which most jobs never reach, and at most once per `sweep` ms for other deadlines.
 */
export function createExpiry({
  active,
  store,
  jobs,
  groupCommit: { commit },
  events,
  clock,
  log,
  deadlines,
  sweep,
}: {
  active: Pick<ActiveJobs, "get" | "all">;
  store: Pick<JobStore, "nextExpiry" | "expire">;
  jobs: Pick<Jobs, "end" | "remove">;
  groupCommit: Pick<GroupCommit, "commit">;
  events: JobEvents;
  clock: SteadyClock;
  log: Pick<Logger, "error">;
  deadlines: JobDeadlines;
  sweep: number;
}) {
  const scheduler = createScheduler(clock, pass, (error) => log.error({ err: error }, "expiry: pass failed; retrying"));
  let systemChange = 0;
  /** Requests a pass if the system time has changed, as it does while the machine is suspended, because ttl and retention follow it. */
  const timeChecks = createScheduler(
    clock,
    async () => {
      const change = clock.systemChange();
      if (change !== systemChange) scheduler.schedule(clock.now());
      systemChange = change;
      return clock.now() + timeCheckInterval;
    },
    () => undefined,
  );
  /** The steady time of the pass that applies the job's next deadline. A running job must stop on time; a late removal is invisible. */
  function passTimeOf(job: Job): number {
    const dueAt = isFinal(job) ? steadyTimeOf(deadlines.dueAt(job)) : clock.now() + deadlines.timeLeft(job);
    return job.status === "IN_PROGRESS" ? dueAt : sweepAfter(dueAt);
  }
  const steadyTimeOf = (time: number): number => clock.now() + time - clock.system.now();
  const sweepAfter = (dueAt: number): number => Math.ceil(dueAt / sweep) * sweep;

  const scheduleFor = (job: Job): void => scheduler.schedule(passTimeOf(job));
  events.on("queued", scheduleFor);
  events.on("started", scheduleFor);
  events.on("ended", scheduleFor);
  events.on("ttlChanged", scheduleFor);

  function applyDeadline(job: LiveJob | undefined): void {
    if (!job || deadlines.timeLeft(job) > 0) return;
    if (canTransition(job, "timeOut") && deadlines.timesOut(job)) {
      const limit = deadlines.executionLimit(job);
      const error = `the job exceeded its executionTimeout of ${limit} ms; raise policy.executionTimeout`;
      jobs.end(job, toTimedOut(job, error, clock.now()));
    } else jobs.remove(job);
  }
  /** Applies all passed deadlines; resolves with the time of the next pass. */
  async function pass(): Promise<number | undefined> {
    const due: string[] = [];
    let nextPass = Number.POSITIVE_INFINITY;
    for (const job of active.all()) {
      if (deadlines.timeLeft(job) <= 0) due.push(job.id);
      else nextPass = Math.min(nextPass, passTimeOf(job));
    }
    for (let from = 0; from < due.length; from += batchSize.live) {
      await commit(() => {
        for (const id of due.slice(from, from + batchSize.live)) applyDeadline(active.get(id));
      });
    }
    let expiry = store.nextExpiry();
    while (expiry !== undefined && sweepAfter(expiry) <= clock.system.now()) {
      await commit(() => store.expire(clock.system.now(), batchSize.final));
      expiry = store.nextExpiry();
    }
    if (expiry !== undefined) nextPass = Math.min(nextPass, steadyTimeOf(sweepAfter(expiry)));
    return nextPass === Number.POSITIVE_INFINITY ? undefined : nextPass;
  }

  return {
    pass,
    /** Applies a changed execution timeout of an endpoint to its running jobs. */
    applyTimeoutChange: (): void => scheduler.schedule(clock.now()),
    /** Starts passes at each deadline. */
    start(): void {
      scheduler.start();
      timeChecks.start();
    },
    async stop(): Promise<void> {
      await Promise.all([scheduler.stop(), timeChecks.stop()]);
    },
  };
}
