import type { Clock } from "serverless-compute-api/clock";
import type { JobCounters } from "./counters";
import type { JobDeadlines } from "./deadlines";
import type { JobEvents } from "./events";
import {
  type FinalJob,
  isFinal,
  type Job,
  type JobProperties,
  type LiveJob,
  recordText,
  toRequeued,
  webhookText,
} from "./job";
import type { LiveJobs } from "./live-jobs";
import type { JobStore } from "./store";
import type { WebhookStore } from "./webhook-store";

/** A transition of a job; `after` is undefined if the job was removed. */
export interface Transition {
  before: Job;
  after: Job | undefined;
  /** The worker's output, as JSON text. */
  output?: string | undefined;
}

export type Transitions = ReturnType<typeof createTransitions>;

/** Applies transitions in memory and in the store. All methods except `emit` run within the caller's transaction. */
export function createTransitions({
  live,
  store,
  counters,
  webhooks,
  events,
  clock,
  dueAt,
}: {
  live: LiveJobs;
  store: JobStore;
  counters: JobCounters;
  webhooks: WebhookStore;
  events: JobEvents;
  clock: Clock;
  dueAt: JobDeadlines["dueAt"];
}) {
  /** Writes a changed unfinished job. */
  function put(job: LiveJob): void {
    live.put(job);
    store.save(job);
  }

  return {
    put,

    /** Ends a job. `result` replaces the progress update, even if it has no output; without `result`, the update is kept. */
    end(before: LiveJob, after: FinalJob, result?: { output: string | undefined }): Transition {
      live.remove(before.id);
      const output = result ? result.output : before.hasOutput ? store.progress(after.seq) : undefined;
      store.saveFinal(after, dueAt(after), result?.output);
      if (result && before.hasOutput) store.setProgress(after.seq, undefined);
      if (after.status === "COMPLETED") counters.add(after.endpointId, "completed");
      if (after.status === "FAILED" || after.status === "TIMED_OUT") counters.add(after.endpointId, "failed");
      if (after.webhook !== undefined) {
        const { input = "{}" } = store.payload(after.seq) ?? {};
        const record = recordText(after, output, clock.now());
        webhooks.insert(after, after.webhook, webhookText(record, input, after.webhook));
      }
      return { before, after, output };
    },

    /** Requeues a job; `hasRun` if a worker has run it. */
    requeue(before: Parameters<typeof toRequeued>[0], changes: Partial<JobProperties>, hasRun: boolean) {
      const after = toRequeued(before, changes);
      if (hasRun) counters.add(before.endpointId, "retried");
      if (before.chunks > 0) store.clearChunks(before.seq);
      if (before.hasOutput) store.setProgress(before.seq, undefined);
      put(after);
      return { before, after };
    },

    /** Deletes a job. */
    remove(job: Job): Transition {
      if (!isFinal(job)) live.remove(job.id);
      store.remove(job.seq);
      return { before: job, after: undefined };
    },

    /** Emits the event of a transition, after the commit. */
    emit({ before, after, output }: Transition): void {
      if (!after) {
        if (!isFinal(before)) events.emit("removed", before);
      } else if (after.status === "IN_QUEUE") events.emit("queued", after);
      else if (after.status === "IN_PROGRESS") events.emit("started", after);
      else events.emit("ended", after, before, output);
    },
  };
}
