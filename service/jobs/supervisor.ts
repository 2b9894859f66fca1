import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import { createAlarm } from "./alarm";
import type { JobDeadlines } from "./deadlines";
import type { JobEvents } from "./events";
import { isOver, type Job } from "./job";
import type { Jobs } from "./jobs";
import type { LiveJobs } from "./live-jobs";
import type { JobStore } from "./store";
import { createTimerQueue } from "./timer-queue";

export type Supervisor = ReturnType<typeof createSupervisor>;

export interface SupervisorDeps {
  jobs: Pick<Jobs, "settle" | "expire">;
  live: LiveJobs;
  store: Pick<JobStore, "nextExpiry">;
  events: JobEvents;
  clock: Clock;
  log: Pick<Logger, "error">;
  deadlines: Pick<JobDeadlines, "dueAt">;
  /** How often final jobs are deleted at most, ms. Clients see none whose time is over, so that can wait. */
  sweep: number;
}

/** Jobs that time changes in one transaction: it keeps the process from responding. */
const batch = { live: 100, final: 500 } as const;

/** What time does to jobs: ttl, execution time-outs, the end of retention. */
export function createSupervisor(deps: SupervisorDeps) {
  const { jobs, live, store, events, clock, log, deadlines, sweep } = deps;
  const isCurrent = (id: string, at: number): boolean => {
    const job = live.get(id);
    return job !== undefined && deadlines.dueAt(job) === at;
  };
  const timers = createTimerQueue<string>(isCurrent, () => live.size);
  const alarm = createAlarm(clock, pass, (error) => log.error({ err: error }, "the supervisor's pass failed"));
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

  /** If the store fails, the jobs stay due for the next pass. */
  async function settle(ids: string[]): Promise<void> {
    try {
      await jobs.settle(ids);
    } catch (error) {
      for (const id of ids) {
        const job = live.get(id);
        if (job) timers.add(deadlines.dueAt(job), id);
      }
      throw error;
    }
  }

  /** Does everything that is due by now and resolves with when there is more to do. Tests call it by hand. */
  async function pass(): Promise<number | undefined> {
    const now = clock.now();
    // A job may be due twice, for its own time and for its ttl.
    for (let ids = timers.due(now, batch.live); ids.length > 0; ids = timers.due(now, batch.live)) await settle(ids);
    let expiry = store.nextExpiry();
    while (expiry !== undefined && nextSweep(expiry) <= now) {
      await jobs.expire(batch.final);
      expiry = store.nextExpiry();
    }
    const times = [timers.next(), expiry === undefined ? undefined : nextSweep(expiry)].filter(
      (time) => time !== undefined,
    );
    return times.length === 0 ? undefined : Math.min(...times);
  }

  return {
    pass,
    /** Takes over the jobs that the store had. Before anything else. */
    watch(found: Iterable<Job>): void {
      for (const job of found) expect(job);
    },
    /** Looks anew at an endpoint's jobs, whose execution time-out may be another one. */
    retime(endpointId: string): void {
      for (const job of live.of(endpointId)) expect(job);
    },
    /** Passes whenever something is due. */
    start: alarm.start,
    stop: alarm.stop,
  };
}
