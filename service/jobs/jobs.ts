import type { Clock } from "serverless-compute-api/clock";
import { ServiceError } from "../errors";
import type { GroupCommit } from "../store/group-commit";
import { createAssignment } from "./assignment";
import type { JobCounters } from "./counters";
import type { JobDeadlines } from "./deadlines";
import type { JobEvents } from "./events";
import * as becomes from "./job";
import { allows, isOver, type Job, type LiveJob, type NewJob, type RunningJob } from "./job";
import type { LiveJobs } from "./live-jobs";
import type { Taker } from "./ready-queue";
import type { JobRecords } from "./records";
import type { JobStore } from "./store";
import { crashLimit, storePause } from "./timings";
import { createTransitions, type Transition } from "./transitions";
import { type JobPayload, sizeOf } from "./unwritten";
import type { WebhookStore } from "./webhook-store";

/** How a worker ended a job; `output` is JSON text. */
export type JobOutcome = { output: string | undefined } | { error: string; output: string | undefined };

/** Why a job goes back into the queue. A crash counts against the job; `undelivered` counts nowhere, since nobody ran it. */
export type GiveBackReason = "crashed" | "interrupted" | "undelivered";

export interface JobsDeps {
  live: LiveJobs;
  store: JobStore;
  records: JobRecords;
  counters: JobCounters;
  webhooks: WebhookStore;
  groupCommit: Pick<GroupCommit, "commit" | "now">;
  events: JobEvents;
  clock: Clock;
  /** Whether there is such an endpoint. */
  exists(endpointId: string): boolean;
  deadlines: JobDeadlines;
}

export type Jobs = ReturnType<typeof createJobs>;

/** All jobs: each transition is a method here, durable when it resolves, and emitted as an event. */
export function createJobs(deps: JobsDeps) {
  const { live, store, counters, webhooks, events, clock } = deps;
  const { commit, now } = deps.groupCommit;
  const { dueAt, executionLimit, triggerDue } = deps.deadlines;
  const { find, runBy } = deps.records;
  const transitions = createTransitions(deps);
  const { put, end, queueAgain, remove, emit } = transitions;
  const assignment = createAssignment({ ...deps, transitions });
  const { give, serveSoon, take } = assignment;

  function announce(transition: Transition | undefined): void {
    if (!transition) return;
    emit(transition);
    if (transition.after?.status === "IN_QUEUE") serveSoon(transition.after.endpointId);
  }
  const change = async (work: () => Transition | undefined, bytes?: number): Promise<boolean> =>
    (await commit(work, announce, { bytes })) !== undefined;

  /** What rejects because the store cannot be written goes on until it can, or the service stops. */
  function untilKept(attempt: () => Promise<boolean>): Promise<boolean> {
    const kept = attempt();
    kept.catch(async (error: unknown) => {
      if (error instanceof ServiceError && error.code === "stopping") return;
      await clock.sleep(storePause);
      untilKept(attempt).catch(() => undefined);
    });
    return kept;
  }

  const isFirst = ({ endpointId }: NewJob): boolean => live.queue(endpointId).size === 0;
  /** The record of a submission, which the worker has at once when there is one. */
  function received(job: NewJob, taker: Taker | undefined): LiveJob {
    const queued = becomes.queued(job, store.nextSeq(), store.nextPlace());
    return taker ? becomes.taken(queued, taker.workerId, clock.now()) : queued;
  }
  function begin(started: LiveJob, taker: Taker | undefined, { input, s3Config }: JobPayload): void {
    if (started.status === "IN_QUEUE") announce({ before: started, after: started });
    else if (taker) give({ taker, taken: { job: started, input, s3Config } });
  }

  function settle(job: LiveJob | undefined): Transition | undefined {
    const trigger = job && triggerDue(job, clock.now());
    if (!trigger) return undefined;
    if (trigger !== "timeOut" || !allows(job, "timeOut")) return remove(job);
    const error = `the job ran longer than its executionTimeout of ${executionLimit(job)} ms: raise policy.executionTimeout`;
    return end(job, becomes.timedOut(job, error, clock.now()));
  }

  return {
    /** Queues a job, or gives it to a worker that waits; undefined when its endpoint is gone. */
    async submit(job: NewJob): Promise<LiveJob | undefined> {
      const accepted = await commit(
        () => {
          if (!deps.exists(job.endpointId)) return undefined;
          const taker = isFirst(job) ? live.nextTaker(job.endpointId) : undefined;
          const started = received(job, taker);
          store.insert(started, job);
          live.put(started);
          return { started, taker };
        },
        (done) => done && begin(done.started, done.taker, job),
        { bytes: sizeOf(job) },
      );
      return accepted?.started;
    },

    /** The same at once for a client that waits for the end of the job: until that, or a moment later, it is not durable. */
    submitSync(job: NewJob): LiveJob | undefined {
      if (!deps.exists(job.endpointId)) return undefined;
      const taker = isFirst(job) ? live.queue(job.endpointId).nextTaker(true) : undefined;
      const started = received(job, taker);
      transitions.defer(started, job);
      begin(started, taker, job);
      return started;
    },

    take,

    await: assignment.await,

    /** Ends a job with its worker's result; false when the job is not that worker's any more. */
    finish: (id: string, workerId: string, outcome: JobOutcome): Promise<boolean> =>
      change(() => {
        const before = runBy(id, workerId);
        if (!before) return undefined;
        const now = clock.now();
        const after = "error" in outcome ? becomes.failed(before, outcome.error, now) : becomes.completed(before, now);
        return end(before, after, outcome);
      }, outcome.output?.length),

    /** Keeps a running job's progress update (JSON text). */
    progress: (id: string, workerId: string, output: string): Promise<boolean> =>
      commit(
        () => {
          const job = runBy(id, workerId);
          if (!job) return false;
          store.setProgress(job.seq, output);
          if (!job.hasOutput) live.put({ ...job, hasOutput: true });
          return true;
        },
        undefined,
        { bytes: output.length },
      ),

    /**
     * Takes a job back from its worker: into the queue, or to its end after too many crashes. When it rejects because the store
     * cannot be written, it goes on by itself until that can be: nobody else would take the job from a worker that is gone.
     */
    giveBack: (id: string, workerId: string, reason: GiveBackReason, error: string): Promise<boolean> =>
      untilKept(() =>
        change(() => {
          const before = runBy(id, workerId);
          if (!before) return undefined;
          const crashes = before.crashes + (reason === "crashed" ? 1 : 0);
          if (crashes > crashLimit) {
            return end(before, becomes.failed({ ...before, crashes }, error, clock.now()), { output: undefined });
          }
          const counted = reason !== "undelivered";
          return queueAgain(before, { retries: before.retries + (counted ? 1 : 0), crashes }, counted);
        }),
      ),

    /** Fails a waiting job whose workers do not come up. */
    refuse: (id: string, error: string): Promise<boolean> =>
      change(() => {
        const before = live.get(id);
        return allows(before, "refuse") ? end(before, becomes.failed(before, error, clock.now())) : undefined;
      }),

    /** Cancels a job that is not over; resolves with the job as it is then. */
    cancel: (endpointId: string, id: string): Promise<Job | undefined> =>
      commit(
        () => {
          const before = find(endpointId, id)?.job;
          return allows(before, "cancel") ? end(before, becomes.cancelled(before, clock.now())) : { after: before };
        },
        (done) => announce("before" in done ? done : undefined),
      ).then(({ after }) => after),

    /** Queues a failed or timed-out job again; `retried` says whether it could be. */
    async retry(endpointId: string, id: string): Promise<{ job: Job; retried: boolean } | undefined> {
      const done = await commit(
        () => {
          const before = find(endpointId, id)?.job;
          if (!allows(before, "retry")) return before && { job: before };
          const again = { queuedAt: clock.now(), place: store.nextPlace(), retries: before.retries + 1, crashes: 0 };
          const transition = queueAgain(before, again, true);
          return { job: transition.after, transition };
        },
        (found) => announce(found?.transition),
      );
      return done && { job: done.job, retried: done.transition !== undefined };
    },

    /** Removes the waiting jobs and resolves with how many. */
    async purge(endpointId: string): Promise<number> {
      const gone = await commit(
        () => {
          const waiting = live.of(endpointId).filter((job) => allows(job, "purge"));
          store.purge(endpointId);
          for (const { id } of waiting) live.drop(id);
          return waiting;
        },
        (waiting) => {
          for (const job of waiting) events.emit("removed", job);
        },
      );
      return gone.length;
    },

    /** Sets the time from submission to removal, ms. */
    async setTtl(endpointId: string, id: string, ttl: number): Promise<void> {
      await commit(
        () => {
          const job = find(endpointId, id)?.job;
          const retimed = job && { ...job, expiresAt: job.createdAt + ttl };
          if (retimed && isOver(retimed)) store.saveOver(retimed, dueAt(retimed));
          else if (retimed) put(retimed);
          return retimed;
        },
        (retimed) => void (retimed && events.emit("retimed", retimed)),
      );
    },

    /** Does to these jobs what time asks for by now. */
    settle: (ids: string[]): Promise<unknown> =>
      commit(
        () => ids.map((id) => settle(live.get(id))),
        (done) => done.forEach(announce),
      ),

    /** Writes what was deferred, so that the store has every job. */
    writeDeferred: (): Promise<void> => commit(store.flushAll, undefined, { lazy: true }),

    /** The same at once for what was deferred before the last call of this. */
    writeOlder: (): void => now(store.flushOlder),

    /** The same at once for what is durable already. */
    writeLogged: (): void => now(store.flush),

    /** Deletes final jobs whose time is over, up to `limit` of them. */
    expire: (limit: number): Promise<number> => commit(() => store.expire(clock.now(), limit)),

    /** Removes everything that an endpoint has here. */
    async forget(endpointId: string): Promise<void> {
      await commit(
        () => {
          const left = live.of(endpointId);
          store.removeEndpoint(endpointId);
          for (const { id } of left) live.drop(id);
          counters.removeEndpoint(endpointId);
          webhooks.removeEndpoint(endpointId);
          return left;
        },
        (left) => {
          for (const job of left) events.emit("removed", job);
          live.forget(endpointId);
        },
      );
    },

    /**
     * Reads the jobs that are not over and queues those again that ran when the service ended, but for those whose workers
     * outlived it: these are returned. Before anything else, in a transaction.
     */
    recover(outlives: (workerId: string) => boolean): RunningJob[] {
      const found: LiveJob[] = [];
      store.live((job) => void found.push(job));
      live.load(found);
      const kept: RunningJob[] = [];
      for (const job of found) {
        if (job.status !== "IN_PROGRESS") continue;
        if (outlives(job.workerId)) kept.push(job);
        else queueAgain(job, { retries: job.retries + 1 }, true);
      }
      store.flushAll();
      return kept;
    },
  };
}
