import type { Clock } from "serverless-compute-api/clock";
import type { JobCounters } from "./counters";
import type { JobDeadlines } from "./deadlines";
import type { JobEvents } from "./events";
import { type FinalJob, isOver, type Job, type JobFacts, type LiveJob, queuedAgain, recordText } from "./job";
import type { LiveJobs } from "./live-jobs";
import type { JobStore } from "./store";
import type { JobPayload } from "./unwritten";
import type { WebhookStore } from "./webhook-store";

/** One transition of a job; without `after` the job left the record. */
export interface Transition {
  before: Job;
  after: Job | undefined;
  /** What its worker returned, as JSON text. */
  output?: string | undefined;
}

export interface TransitionDeps {
  live: LiveJobs;
  store: JobStore;
  counters: JobCounters;
  webhooks: WebhookStore;
  events: JobEvents;
  clock: Clock;
  deadlines: Pick<JobDeadlines, "dueAt">;
}

export type Transitions = ReturnType<typeof createTransitions>;

/** What each transition changes in memory and in the store. The caller is within a transaction, but for `emit`. */
export function createTransitions({ live, store, counters, webhooks, events, clock, deadlines }: TransitionDeps) {
  const { dueAt } = deadlines;

  /** The job waits or runs as it is now. */
  function put(job: LiveJob): void {
    live.put(job);
    store.save(job, dueAt(job));
  }

  return {
    put,

    /**
     * The same at once, outside of a transaction, and written later: for what nobody was promised, so that a short job is written
     * once, when it is over. With the payload of a new job.
     */
    defer(job: LiveJob, payload?: JobPayload): void {
      live.put(job);
      store.defer(job, dueAt(job), payload);
    },

    /** The job is over. `result` takes the place of a progress update, none as well; without it that stays. */
    end(before: LiveJob, after: FinalJob, result?: { output: string | undefined }): Transition {
      live.drop(before.id);
      store.saveOver(after, dueAt(after), result?.output);
      if (result && before.hasOutput) store.setProgress(after.seq, undefined);
      const output = result ? result.output : before.hasOutput ? store.progress(after.seq) : undefined;
      if (after.status === "COMPLETED") counters.add(after.endpointId, "completed");
      if (after.status === "FAILED" || after.status === "TIMED_OUT") counters.add(after.endpointId, "failed");
      if (after.webhook !== undefined) {
        const body = recordText(after, output, clock.now());
        const { endpointId, id: jobId, webhook: url } = after;
        webhooks.insert({ endpointId, jobId, url, body, dueAt: clock.now() });
      }
      return { before, after, output };
    },

    /** The job waits again; `counted` when it was tried. */
    queueAgain(before: Parameters<typeof queuedAgain>[0], changes: Partial<JobFacts>, counted: boolean) {
      const after = queuedAgain(before, changes);
      if (counted) counters.add(before.endpointId, "retried");
      if (before.chunks > 0) store.clearChunks(before.seq);
      if (before.status !== "IN_PROGRESS" || before.hasOutput) store.setProgress(before.seq, undefined);
      put(after);
      return { before, after };
    },

    /** The job leaves the record. */
    remove(job: Job): Transition {
      if (!isOver(job)) live.drop(job.id);
      store.remove(job.seq);
      return { before: job, after: undefined };
    },

    /** Emits what happened, after the commit. */
    emit({ before, after, output }: Transition): void {
      if (!after) {
        if (!isOver(before)) events.emit("removed", before);
      } else if (after.status === "IN_QUEUE") events.emit("queued", after);
      else if (after.status === "IN_PROGRESS") events.emit("started", after);
      else events.emit("ended", after, before, output);
    },
  };
}
