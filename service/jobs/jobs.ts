import { type Clock, elapsedTime } from "serverless-compute-api/clock";
import { notFound, ServiceError } from "../errors";
import type { GroupCommit } from "../store/group-commit";
import type { createAssignment } from "./assignment";
import type { JobCounters } from "./counters";
import type { JobDeadlines } from "./deadlines";
import type { JobEvents } from "./events";
import {
  canTransition,
  isFinal,
  type Job,
  type JobWorker,
  type NewJob,
  type RunningJob,
  toCancelled,
  toCompleted,
  toFailed,
  toQueued,
  toRunning,
} from "./job";
import type { LiveJobs } from "./live-jobs";
import type { JobRecords } from "./records";
import type { JobStore } from "./store";
import { crashLimit, storePause } from "./timings";
import type { Transition, Transitions } from "./transitions";
import type { WebhookStore } from "./webhook-store";

/** A worker's result of a job; `output` is JSON text. */
export type JobOutcome = { output: string | undefined } | { error: string; output: string | undefined };

/** The reason for a requeue. Only a crash counts towards the crash limit. `undelivered` is not counted, because no worker ran the job. */
export type RequeueReason = "crashed" | "interrupted" | "undelivered";

export type Jobs = ReturnType<typeof createJobs>;

/** All job transitions, one method each. A transition is durable when its promise resolves, and is emitted as an event. */
export function createJobs({
  live,
  store,
  records: { find, findRunning },
  counters,
  webhooks,
  groupCommit: { commit },
  transitions,
  assignment: { deliver, scheduleAssignment, assign, assignOrWait },
  events,
  clock,
  exists,
  dueAt,
}: {
  live: LiveJobs;
  store: JobStore;
  records: JobRecords;
  counters: JobCounters;
  webhooks: WebhookStore;
  groupCommit: Pick<GroupCommit, "commit">;
  transitions: Transitions;
  assignment: ReturnType<typeof createAssignment>;
  events: JobEvents;
  clock: Clock;
  exists(endpointId: string): boolean;
  dueAt: JobDeadlines["dueAt"];
}) {
  const { put, end, requeue, emit } = transitions;

  function publish(transition: Transition | undefined): void {
    if (!transition) return;
    emit(transition);
    if (transition.after?.status === "IN_QUEUE") scheduleAssignment(transition.after.endpointId);
  }
  const change = async (work: () => Transition | undefined, bytes?: number): Promise<boolean> =>
    (await commit(work, publish, bytes)) !== undefined;

  /** Returns the result of the first attempt; if the store fails, retries in the background until the service stops. */
  function retryUntilCommitted(attempt: () => Promise<boolean>): Promise<boolean> {
    const firstAttempt = attempt();
    firstAttempt.catch(async (error: unknown) => {
      if (error instanceof ServiceError && error.code === "stopping") return;
      await clock.sleep(storePause);
      retryUntilCommitted(attempt).catch(() => undefined);
    });
    return firstAttempt;
  }

  return {
    /** Queues a job, or assigns it to a waiting worker. Throws a ServiceError `missing` if the endpoint does not exist. */
    async submit(job: NewJob): Promise<void> {
      const submission = await commit(
        () => {
          const { endpointId, input, s3Config } = job;
          if (!exists(endpointId)) return undefined;
          const queued = toQueued(job, store.nextSeq(), store.nextPlace(), clock);
          const waiter = live.queue(endpointId).size === 0 ? live.nextWaiter(endpointId) : undefined;
          const running = waiter && toRunning(queued, waiter.workerId, clock);
          store.insert(running ?? queued, job);
          live.put(running ?? queued);
          return { queued, assignment: running && { waiter, delivery: { job: running, input, s3Config } } };
        },
        (committed) => {
          if (committed?.assignment) deliver(committed.assignment);
          else if (committed) publish({ before: committed.queued, after: committed.queued });
        },
        job.input.length + (job.s3Config?.length ?? 0),
      );
      if (!submission) throw notFound("endpoint", job.endpointId);
    },

    assign,

    assignOrWait,

    /** Ends a job with its worker's result; returns false if the job is not assigned to the worker. */
    finish: (id: string, worker: JobWorker, outcome: JobOutcome): Promise<boolean> =>
      change(() => {
        const before = findRunning(id, worker);
        if (!before) return undefined;
        const now = clock.now();
        const after = "error" in outcome ? toFailed(before, outcome.error, now) : toCompleted(before, now);
        return end(before, after, outcome);
      }, outcome.output?.length),

    /** Stores a running job's progress update (JSON text). */
    progress: (id: string, worker: JobWorker, output: string): Promise<boolean> =>
      commit(
        () => {
          const job = findRunning(id, worker);
          if (!job) return false;
          store.setProgress(job.seq, output);
          if (!job.hasOutput) put({ ...job, hasOutput: true });
          return true;
        },
        undefined,
        output.length,
      ),

    /**
     * Requeues a worker's job, or fails it after too many crashes. If the store fails, rejects and retries in the background, because no
     * other caller would requeue the job of a lost worker.
     */
    requeue: (id: string, worker: JobWorker, reason: RequeueReason, error: string): Promise<boolean> =>
      retryUntilCommitted(() =>
        change(() => {
          const before = findRunning(id, worker);
          if (!before) return undefined;
          const crashes = before.crashes + (reason === "crashed" ? 1 : 0);
          if (crashes > crashLimit)
            return end(before, toFailed({ ...before, crashes }, error, clock.now()), { output: undefined });
          const hasRun = reason !== "undelivered";
          return requeue(before, { retries: before.retries + (hasRun ? 1 : 0), crashes }, hasRun);
        }),
      ),

    /** Fails a waiting job because its endpoint's workers do not start. */
    reject: (id: string, error: string): Promise<boolean> =>
      change(() => {
        const before = live.get(id);
        return canTransition(before, "reject") ? end(before, toFailed(before, error, clock.now())) : undefined;
      }),

    /** Cancels an unfinished job; resolves with the resulting job. */
    cancel: (endpointId: string, id: string): Promise<Job | undefined> =>
      commit(
        () => {
          const before = find(endpointId, id)?.job;
          return canTransition(before, "cancel") ? end(before, toCancelled(before, clock.now())) : { after: before };
        },
        (committed) => publish("before" in committed ? committed : undefined),
      ).then(({ after }) => after),

    /** Requeues a failed or timed-out job; `retried` is false for any other state. */
    async retry(endpointId: string, id: string): Promise<{ job: Job; retried: boolean } | undefined> {
      const committed = await commit(
        () => {
          const before = find(endpointId, id)?.job;
          if (!canTransition(before, "retry")) return before && { job: before };
          const queued = { queuedAt: clock.now(), since: elapsedTime(clock), place: store.nextPlace() };
          const transition = requeue(before, { ...queued, retries: before.retries + 1, crashes: 0 }, true);
          return { job: transition.after, transition };
        },
        (found) => publish(found?.transition),
      );
      return committed && { job: committed.job, retried: committed.transition !== undefined };
    },

    /** Removes the endpoint's waiting jobs; resolves with the number of removed jobs. */
    async purge(endpointId: string): Promise<number> {
      const removed = await commit(
        () => {
          const unfinished = live.byEndpoint(endpointId);
          const waiting = unfinished.filter((job) => canTransition(job, "purge"));
          // The start of a job may not have been written to its row yet.
          for (const job of unfinished) if (job.status === "IN_PROGRESS") store.save(job);
          store.purge(endpointId);
          for (const { id } of waiting) live.remove(id);
          return waiting;
        },
        (waiting) => {
          for (const job of waiting) events.emit("removed", job);
        },
      );
      return removed.length;
    },

    /** Sets a job's ttl, ms from its submission. */
    async setTtl(endpointId: string, id: string, ttl: number): Promise<void> {
      await commit(
        () => {
          const job = find(endpointId, id)?.job;
          const updatedJob = job && { ...job, expiresAt: job.createdAt + ttl };
          if (updatedJob && isFinal(updatedJob)) store.saveFinal(updatedJob, dueAt(updatedJob));
          else if (updatedJob) put(updatedJob);
          return updatedJob;
        },
        (updatedJob) => void (updatedJob && events.emit("ttlChanged", updatedJob)),
      );
    },

    /** Removes an endpoint's jobs, counters and webhooks. */
    async removeEndpoint(endpointId: string): Promise<void> {
      await commit(
        () => {
          const unfinished = live.byEndpoint(endpointId);
          store.removeEndpoint(endpointId);
          for (const { id } of unfinished) live.remove(id);
          counters.removeEndpoint(endpointId);
          webhooks.removeEndpoint(endpointId);
          return unfinished;
        },
        (unfinished) => {
          for (const job of unfinished) events.emit("removed", job);
        },
      );
    },

    /**
     * Loads the unfinished jobs, and requeues jobs that were running when the service ended. Returns the running jobs whose workers
     * outlive the service, which are not requeued. Must be called first, in a transaction.
     */
    recover(outlives: (workerId: string) => boolean): RunningJob[] {
      const stored = store.live();
      live.load(stored, clock);
      const running = stored.filter((job) => job.status === "IN_PROGRESS");
      for (const job of running) if (!outlives(job.workerId)) requeue(job, { retries: job.retries + 1 }, true);
      return running.filter(({ workerId }) => outlives(workerId));
    },
  };
}
