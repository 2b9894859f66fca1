import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import type { GroupCommit } from "../store/group-commit";
import { createAlarm } from "./alarm";
import type { JobDeadlines } from "./deadlines";
import type { JobEvents } from "./events";
import { allows, isOver, type Job, type LiveJob, timedOut } from "./job";
import type { LiveJobs } from "./live-jobs";
import type { JobStore } from "./store";
import { createTimerQueue } from "./timer-queue";
import type { Transition, Transitions } from "./transitions";

export type Supervisor = ReturnType<typeof createSupervisor>;

/** Jobs per transaction at most: the process sends no response during a transaction. */
const batch = { live: 100, final: 500 } as const;

/** Applies deadlines to jobs: ttl, execution timeouts, the end of retention. `sweep` is the time between two deletions of final jobs, ms. */
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
  const isCurrent = (id: string, at: number): boolean => {
    const job = live.get(id);
    return job !== undefined && deadlines.dueAt(job) === at;
  };
  const timers = createTimerQueue<string>(isCurrent, () => live.size);
  const alarm = createAlarm(clock, pass, (error) => log.error({ err: error }, "supervisor: pass failed; retrying"));
  const nextSweep = (dueAt: number): number => Math.ceil(dueAt / sweep) * sweep;

  function expect(job: Job): void {
    const dueAt = deadlines.dueAt(job);
    if (!isOver(job)) timers.add(dueAt, job.id);
    alarm.by(isOver(job) ? nextSweep(dueAt) : dueAt);
  }
  events.on("queued", expect);
  events.on("started", expect);
  events.on("ended", expect);
  events.on("retimed", expect);

  function settle(job: LiveJob | undefined): Transition | undefined {
    const trigger = job && deadlines.triggerDue(job, clock.now());
    if (!trigger) return undefined;
    if (trigger !== "timeOut" || !allows(job, "timeOut")) return transitions.remove(job);
    const limit = deadlines.executionLimit(job);
    const error = `the job ran longer than its executionTimeout of ${limit} ms: raise policy.executionTimeout`;
    return transitions.end(job, timedOut(job, error, clock.now()));
  }
  /** Applies the deadlines that have passed to these jobs. If the store fails, the jobs stay due for the next pass. */
  async function settleAll(ids: string[]): Promise<void> {
    try {
      await commit(
        () => ids.map((id) => settle(live.get(id))),
        (done) => {
          for (const transition of done) if (transition) transitions.emit(transition);
        },
      );
    } catch (error) {
      for (const id of ids) {
        const job = live.get(id);
        if (job) timers.add(deadlines.dueAt(job), id);
      }
      throw error;
    }
  }

  /** Applies all deadlines that have passed; resolves with the time of the next one. */
  async function pass(): Promise<number | undefined> {
    const now = clock.now();
    // A job may be due twice, by its own deadline and by its ttl.
    for (let ids = timers.due(now, batch.live); ids.length > 0; ids = timers.due(now, batch.live)) await settleAll(ids);
    let expiry = store.nextExpiry();
    while (expiry !== undefined && nextSweep(expiry) <= now) {
      await commit(() => store.expire(clock.now(), batch.final));
      expiry = store.nextExpiry();
    }
    const times = [timers.next(), expiry === undefined ? undefined : nextSweep(expiry)].filter(
      (time) => time !== undefined,
    );
    return times.length === 0 ? undefined : Math.min(...times);
  }

  return {
    pass,
    /** Watches the jobs that the store had at the start. Must be called first. */
    watch(found: Iterable<Job>): void {
      for (const job of found) expect(job);
    },
    /** Updates the deadlines of an endpoint's jobs after a change of its execution timeout. */
    retime(endpointId: string): void {
      for (const job of live.of(endpointId)) expect(job);
    },
    /** Starts passes at each deadline. */
    start: alarm.start,
    stop: alarm.stop,
  };
}
