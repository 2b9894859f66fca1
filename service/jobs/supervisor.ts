import type { Logger } from "pino";
import { type Clock, steadyClock } from "serverless-compute-api/clock";
import type { GroupCommit } from "../store/group-commit";
import { createAlarm } from "./alarm";
import type { JobDeadlines } from "./deadlines";
import type { JobEvents } from "./events";
import { canTransition, isFinal, type Job, type LiveJob, toTimedOut } from "./job";
import type { LiveJobs } from "./live-jobs";
import type { JobStore } from "./store";
import type { Transition, Transitions } from "./transitions";

/** Maximum jobs per transaction; the process sends no responses during a transaction. */
const batchSize = { live: 100, final: 500 } as const;

/**
 * Applies deadlines to jobs: ttl, execution timeouts and the end of retention. A pass reads all unfinished jobs. It runs at the earliest
 * deadline of a running job, which most jobs never reach, and at most once per `sweep` ms for other deadlines.
 */
export function createSupervisor({
  live,
  store,
  groupCommit: { commit },
  transitions,
  events,
  clock,
  log,
  deadlines,
  sweep,
}: {
  live: LiveJobs;
  store: Pick<JobStore, "nextExpiry" | "expire">;
  groupCommit: Pick<GroupCommit, "commit">;
  transitions: Pick<Transitions, "end" | "remove" | "emit">;
  events: JobEvents;
  clock: Clock;
  log: Pick<Logger, "error">;
  deadlines: JobDeadlines;
  sweep: number;
}) {
  const steady = steadyClock(clock);
  const alarm = createAlarm(steady, pass, (error) => log.error({ err: error }, "supervisor: pass failed; retrying"));
  /** The steady time of the pass that applies the job's next deadline. A running job must stop on time; a late removal is invisible. */
  function passTimeOf(job: Job): number {
    const dueAt = isFinal(job) ? steadyTimeOf(deadlines.dueAt(job)) : steady.now() + deadlines.timeLeft(job);
    return job.status === "IN_PROGRESS" ? dueAt : sweepAfter(dueAt);
  }
  const steadyTimeOf = (time: number): number => steady.now() + time - clock.now();
  const sweepAfter = (dueAt: number): number => Math.ceil(dueAt / sweep) * sweep;

  const scheduleFor = (job: Job): void => alarm.schedule(passTimeOf(job));
  events.on("queued", scheduleFor);
  events.on("started", scheduleFor);
  events.on("ended", scheduleFor);
  events.on("ttlChanged", scheduleFor);

  function applyDeadline(job: LiveJob | undefined): Transition | undefined {
    if (!job || deadlines.timeLeft(job) > 0) return undefined;
    if (!canTransition(job, "timeOut") || !deadlines.timesOut(job)) return transitions.remove(job);
    const limit = deadlines.executionLimit(job);
    const error = `the job exceeded its executionTimeout of ${limit} ms; raise policy.executionTimeout`;
    return transitions.end(job, toTimedOut(job, error, clock.now()));
  }
  /** Applies all passed deadlines; resolves with the time of the next pass. */
  async function pass(): Promise<number | undefined> {
    const due: string[] = [];
    let nextPass = Number.POSITIVE_INFINITY;
    for (const job of live.all()) {
      if (deadlines.timeLeft(job) <= 0) due.push(job.id);
      else nextPass = Math.min(nextPass, passTimeOf(job));
    }
    for (let from = 0; from < due.length; from += batchSize.live) {
      await commit(
        () => due.slice(from, from + batchSize.live).map((id) => applyDeadline(live.get(id))),
        (results) => {
          for (const transition of results) if (transition) transitions.emit(transition);
        },
      );
    }
    let expiry = store.nextExpiry();
    while (expiry !== undefined && sweepAfter(expiry) <= clock.now()) {
      await commit(() => store.expire(clock.now(), batchSize.final));
      expiry = store.nextExpiry();
    }
    if (expiry !== undefined) nextPass = Math.min(nextPass, steadyTimeOf(sweepAfter(expiry)));
    return nextPass === Number.POSITIVE_INFINITY ? undefined : nextPass;
  }

  return {
    pass,
    /** Applies a changed execution timeout of an endpoint to its running jobs. */
    applyTimeoutChange: (): void => alarm.schedule(steady.now()),
    /** Starts passes at each deadline. */
    start: alarm.start,
    stop: alarm.stop,
  };
}
