import { notFound } from "../errors";
import type { SteadyClock } from "../steady-clock";
import type { Database } from "../store/database";
import type { GroupCommit } from "../store/group-commit";
import { crashLimit } from "../timings";
import type { JobCounters } from "./counters";
import type { JobEvents } from "./events";
import {
  canTransition,
  type FinalJob,
  isFinal,
  type Job,
  type JobDelivery,
  type JobOutcome,
  type JobWorker,
  type LiveJob,
  type NewJob,
  type QueuedJob,
  type RequeueReason,
  type RunningJob,
  toCancelled,
  toCompleted,
  toFailed,
  toQueued,
  toRequeued,
  toRunning,
} from "./job";
import type { JobList } from "./list";
import type { ActiveJobs, WaitingWorker } from "./memory";
import type { JobStore } from "./store";
import type { Webhooks } from "./webhooks";

export type Jobs = ReturnType<typeof createJobs>;

/**
 * All job transitions. A method that returns a promise makes a durable change when the promise resolves. Each change runs in a transaction and
 * registers its events, which are emitted after the commit.
 */
export function createJobs({
  active,
  store,
  list: { find },
  counters,
  webhooks,
  database: { afterCommit },
  groupCommit: { commit, commitWithRetries, beforeCommit },
  events,
  clock,
  exists,
  dueAt,
}: {
  active: ActiveJobs;
  store: JobStore;
  list: Pick<JobList, "find">;
  counters: JobCounters;
  webhooks: Pick<Webhooks, "insert" | "removeEndpoint">;
  database: Pick<Database, "afterCommit">;
  groupCommit: Pick<GroupCommit, "commit" | "commitWithRetries" | "beforeCommit">;
  events: JobEvents;
  clock: SteadyClock;
  exists(endpointId: string): boolean;
  /** Returns the time of a finished job's removal. */
  dueAt(job: FinalJob): number;
}) {
  /** Writes a changed unfinished job. */
  function put(job: LiveJob): void {
    active.put(job);
    store.save(job);
  }

  /** Assigns the first waiting jobs to a worker, in memory. */
  function take(endpointId: string, { workerId, max = 1 }: WaitingWorker): JobDelivery[] {
    const deliveries: JobDelivery[] = [];
    while (deliveries.length < max) {
      const job = active.first(endpointId);
      if (!job) break;
      const started = toRunning(job, workerId, clock.now());
      active.put(started);
      deliveries.push({ job: started, ...store.payload(job.seq) });
    }
    return deliveries;
  }

  /** Records started jobs within a transaction, unless they have ended by then. The row of a changed job has been written. */
  function recordStart(deliveries: JobDelivery[]): void {
    for (const { job } of deliveries) {
      if (active.get(job.id)?.startedAt !== job.startedAt) continue;
      beforeCommit(() => {
        if (active.get(job.id) === job) store.save(job);
      });
      afterCommit(() => events.emit("started", job));
    }
  }

  /** Assigns waiting jobs to waiting workers within a transaction, in the order of the queue. */
  function assign(endpointId: string): void {
    while (active.ready(endpointId).hasWaiter && active.first(endpointId)) {
      const waiter = active.nextWaiter(endpointId);
      if (!waiter) return;
      const deliveries = take(endpointId, waiter);
      recordStart(deliveries);
      afterCommit(() => waiter.deliver(deliveries));
    }
  }

  /** Endpoints whose waiting jobs will be assigned, once the store can be written. */
  const assigning = new Set<string>();

  /** Announces a waiting job, and assigns it if a worker waits. */
  function enqueued(job: QueuedJob): void {
    afterCommit(() => events.emit("queued", job));
    assign(job.endpointId);
  }

  /** Ends a job. `result` replaces the progress update, even if it has no output; without `result`, the update is kept. */
  function end(before: LiveJob, after: FinalJob, result?: Pick<JobOutcome, "output">): FinalJob {
    active.remove(before.id);
    const output = result ? result.output : before.hasOutput ? store.progress(after.seq) : undefined;
    store.saveFinal(after, dueAt(after), result?.output);
    if (result && before.hasOutput) store.setProgress(after.seq, undefined);
    counters.add(after.endpointId, after.status);
    if (after.webhook !== undefined) webhooks.insert(after, after.webhook, output, store.payload(after.seq).input);
    afterCommit(() => events.emit("ended", after, before, output));
    return after;
  }

  /** Requeues a job; with `hasRun`, a worker has run it, which counts as a retry. */
  function requeue(
    before: Parameters<typeof toRequeued>[0],
    changes: Omit<Parameters<typeof toRequeued>[1], "retries">,
    hasRun = true,
  ): QueuedJob {
    const after = toRequeued(before, { ...changes, retries: before.retries + (hasRun ? 1 : 0) });
    if (hasRun) counters.add(before.endpointId, "retried");
    if (before.chunks > 0) store.clearChunks(before.seq);
    if (before.hasOutput) store.setProgress(before.seq, undefined);
    put(after);
    enqueued(after);
    return after;
  }

  /** Removes unfinished jobs whose rows are deleted. */
  function forget(jobs: LiveJob[]): void {
    for (const job of jobs) {
      active.remove(job.id);
      afterCommit(() => events.emit("removed", job));
    }
  }

  return {
    /** Within the caller's transaction: ends a job. */
    end,

    /** Within the caller's transaction: deletes an unfinished job. */
    remove(job: LiveJob): void {
      store.remove(job.seq);
      forget([job]);
    },

    /** Queues a job, or starts it at a waiting worker. Throws a ServiceError `missing` if the endpoint does not exist. */
    async submit(job: NewJob): Promise<void> {
      const { endpointId, input, s3Config } = job;
      const isAccepted = await commit(
        () => {
          if (!exists(endpointId)) return false;
          const queued = toQueued(job, store.nextSeq(), store.nextPosition());
          // The row of a job that starts immediately is written once.
          const waiter = active.waiting(endpointId) === 0 ? active.nextWaiter(endpointId) : undefined;
          const started = waiter && toRunning(queued, waiter.workerId, clock.now());
          store.insert(started ?? queued, job);
          active.put(started ?? queued);
          if (!started) enqueued(queued);
          else {
            afterCommit(() => {
              events.emit("started", started);
              waiter.deliver([{ job: started, input, s3Config }]);
            });
          }
          return true;
        },
        input.length + (s3Config?.length ?? 0),
      );
      if (!isAccepted) throw notFound("endpoint", endpointId);
    },

    /**
     * Assigns the first waiting jobs to a worker, or the next submission. A worker that ends with the service gets a waiting job before the
     * commit of its start, because a kill requeues the job in both cases.
     */
    wait(endpointId: string, waiter: WaitingWorker): void {
      const deliveries = waiter.endsWithService ? take(endpointId, waiter) : [];
      if (deliveries.length > 0) {
        commitWithRetries(() => recordStart(deliveries)).catch(() => undefined);
        waiter.deliver(deliveries);
        return;
      }
      active.ready(endpointId).addWaiter(waiter);
      if (active.waiting(endpointId) === 0 || assigning.has(endpointId)) return;
      assigning.add(endpointId);
      const work = (): void => {
        assign(endpointId);
        afterCommit(() => assigning.delete(endpointId));
      };
      commitWithRetries(work).catch(() => undefined);
    },

    /** Ends a worker's wait without a job. */
    stopWaiting: (endpointId: string, waiter: WaitingWorker): void => active.ready(endpointId).removeWaiter(waiter),

    /** Ends a job with its worker's result; resolves with false if the job is not assigned to the worker. */
    finish: (id: string, worker: JobWorker, outcome: JobOutcome): Promise<boolean> =>
      commit(() => {
        const before = active.runningAt(id, worker);
        if (!before) return false;
        const { error } = outcome;
        const now = clock.now();
        end(before, error === undefined ? toCompleted(before, now) : toFailed(before, error, now), outcome);
        return true;
      }, outcome.output?.length),

    /** Stores a running job's progress update (JSON text). */
    progress: (id: string, worker: JobWorker, output: string): Promise<boolean> =>
      commit(() => {
        const job = active.runningAt(id, worker);
        if (!job) return false;
        store.setProgress(job.seq, output);
        if (!job.hasOutput) put({ ...job, hasOutput: true });
        return true;
      }, output.length),

    /**
     * Requeues a worker's job, or fails it after too many crashes. If the store fails, rejects and retries in the background, because no
     * other caller would requeue the job of a lost worker.
     */
    requeue: (id: string, worker: JobWorker, reason: RequeueReason, error: string): Promise<boolean> =>
      commitWithRetries(() => {
        const before = active.runningAt(id, worker);
        if (!before) return false;
        const crashes = before.crashes + (reason === "crashed" ? 1 : 0);
        if (crashes > crashLimit)
          end(before, toFailed({ ...before, crashes }, error, clock.now()), { output: undefined });
        else requeue(before, { crashes }, reason !== "undelivered");
        return true;
      }),

    /** Fails a waiting job because its endpoint's workers do not start. */
    reject: (id: string, error: string): Promise<boolean> =>
      commit(() => {
        const before = active.get(id);
        if (!canTransition(before, "reject")) return false;
        end(before, toFailed(before, error, clock.now()));
        return true;
      }),

    /** Cancels an unfinished job; resolves with the resulting job. */
    cancel: (endpointId: string, id: string): Promise<Job | undefined> =>
      commit(() => {
        const before = find(endpointId, id)?.job;
        return canTransition(before, "cancel") ? end(before, toCancelled(before, clock.now())) : before;
      }),

    /** Requeues a failed or timed-out job; `retried` is false for any other state. */
    retry: (endpointId: string, id: string): Promise<{ job: Job; retried: boolean } | undefined> =>
      commit(() => {
        const before = find(endpointId, id)?.job;
        if (!canTransition(before, "retry")) return before && { job: before, retried: false };
        const queued = { queuedAt: clock.now(), position: store.nextPosition() };
        return { job: requeue(before, { ...queued, crashes: 0 }), retried: true };
      }),

    /** Removes the endpoint's waiting jobs; resolves with the number of removed jobs. */
    purge: (endpointId: string): Promise<number> =>
      commit(() => {
        const waiting = active.byEndpoint(endpointId).filter((job) => canTransition(job, "purge"));
        store.removeWaiting(waiting.map(({ seq }) => seq));
        forget(waiting);
        return waiting.length;
      }),

    /** Sets a job's ttl, ms from its submission. */
    setTtl: (endpointId: string, id: string, ttl: number): Promise<void> =>
      commit(() => {
        const job = find(endpointId, id)?.job;
        if (!job) return;
        const changed = { ...job, expiresAt: job.createdAt + ttl };
        if (isFinal(changed)) store.saveFinal(changed, dueAt(changed));
        else put(changed);
        afterCommit(() => events.emit("ttlChanged", changed));
      }),

    /** Removes an endpoint's jobs, counters and webhooks. */
    removeEndpoint: (endpointId: string): Promise<void> =>
      commit(() => {
        counters.removeEndpoint(endpointId);
        webhooks.removeEndpoint(endpointId);
        store.removeEndpoint(endpointId);
        forget(active.byEndpoint(endpointId));
      }),

    /**
     * Loads the unfinished jobs, and requeues jobs that were running when the service ended. Returns the running jobs whose workers
     * outlive the service, which are not requeued. Must be called first, in a transaction.
     */
    recover(outlives: (workerId: string) => boolean): RunningJob[] {
      const stored = store.live();
      active.load(stored);
      const running = stored.filter((job) => job.status === "IN_PROGRESS");
      for (const job of running) if (!outlives(job.workerId)) requeue(job, {});
      return running.filter(({ workerId }) => outlives(workerId));
    },
  };
}
