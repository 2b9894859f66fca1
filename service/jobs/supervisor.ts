import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import { createAlarm } from "./alarm";
import type { JobDeadlines } from "./due";
import type { JobEvents } from "./events";
import type { Job } from "./job";
import type { Ledger } from "./ledger";

/** What time does to jobs: ttl, execution time-outs, the end of retention. */
export interface Supervisor {
  /** Does everything that is due by now and answers when there is more to do. Tests call it by hand. */
  pass(): Promise<number | undefined>;
  /** Passes whenever something is due. */
  start(): void;
  stop(): Promise<void>;
}

export interface SupervisorDeps {
  ledger: Pick<Ledger, "settleDue">;
  events: JobEvents;
  clock: Clock;
  log: Pick<Logger, "error">;
  deadlines: Pick<JobDeadlines, "dueAt">;
}

export function createSupervisor({ ledger, events, clock, log, deadlines }: SupervisorDeps): Supervisor {
  const pass = (): Promise<number | undefined> => ledger.settleDue();
  const alarm = createAlarm(clock, pass, (error) => log.error({ err: error }, "the supervisor's pass failed"));
  const expect = (job: Job): void => alarm.by(deadlines.dueAt(job));
  events.on("queued", expect);
  events.on("started", expect);
  events.on("ended", expect);
  events.on("retimed", expect);
  return { pass, start: alarm.start, stop: alarm.stop };
}
