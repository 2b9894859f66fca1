import type { Clock } from "serverless-compute-api/clock";
import type { JobChunkStore } from "../store/job-chunks";
import type { JobCounterStore } from "../store/job-counters";
import type { JobStore } from "../store/jobs";
import type { WebhookStore } from "../store/webhooks";
import type { Committer } from "./commit";
import type { JobDeadlines } from "./due";
import type { JobEvents } from "./events";
import { type FinalJob, isOver, type Job, type JobFacts, type QueuedJob, type RunningJob, recordText } from "./job";
import type { Ledger } from "./ledger";
import * as moves from "./moves";
import { nextState, removed } from "./states";
import { crashLimit } from "./timings";

/** What the ledger writes to, and what it needs to know. */
export interface LedgerDeps {
  jobs: JobStore;
  chunks: JobChunkStore;
  counters: JobCounterStore;
  webhooks: WebhookStore;
  committer: Committer;
  events: JobEvents;
  clock: Clock;
  /** Whether there is such an endpoint. */
  exists(endpointId: string): boolean;
  deadlines: JobDeadlines;
}

/** Jobs that time ends in one transaction: it keeps the process from answering. */
const dueBatch = 100;

/** The ledger over the store: a move is one commit, and told once it is durable. */
export function createLedger({
  jobs,
  chunks,
  counters,
  webhooks,
  committer,
  events,
  clock,
  ...deps
}: LedgerDeps): Ledger {
  const { commit } = committer;
  const { dueAt, executionLimit, triggerDue } = deps.deadlines;
  const save = (job: Job): void => jobs.save(job, dueAt(job));
  const runBy = (id: string, workerId: string): RunningJob | undefined => {
    const job = jobs.find(id);
    // Whose ttl is over is removed, whatever its worker still says and even when the supervisor comes a moment later.
    const isThere = job?.status === "IN_PROGRESS" && job.workerId === workerId && job.expiresAt > clock.now();
    return isThere ? job : undefined;
  };

  /** `output` takes the place of a progress update, none as well; without `result` that stays. */
  function finishAs<Final extends FinalJob>(job: Final, result?: { output: string | undefined }): Final {
    save(job);
    if (result) jobs.setOutput(job.seq, result.output);
    if (job.status === "COMPLETED") counters.add(job.endpointId, "completed");
    if (job.status === "FAILED" || job.status === "TIMED_OUT") counters.add(job.endpointId, "failed");
    if (job.webhook !== undefined) {
      const body = recordText(job, result ? result.output : jobs.output(job.seq), clock.now());
      webhooks.insert({ endpointId: job.endpointId, jobId: job.id, url: job.webhook, body, dueAt: clock.now() });
    }
    return job;
  }

  function queueAgain(job: RunningJob | FinalJob, changes: Partial<JobFacts>, counted: boolean): QueuedJob {
    const again = moves.queuedAgain(job, changes);
    if (counted) counters.add(job.endpointId, "retried");
    if (job.chunks > 0) chunks.clear(job.seq);
    jobs.setChunks(job.seq, 0, 0);
    jobs.setOutput(job.seq, undefined);
    save(again);
    return again;
  }

  interface Move {
    before: Job;
    after: Job | undefined;
  }
  const told = (move: Move | undefined): void => {
    if (!move) return;
    const { before, after } = move;
    if (!after) events.emit("removed", before);
    else if (after.status === "IN_QUEUE") events.emit("queued", after, true);
    else if (after.status === "IN_PROGRESS") events.emit("started", after);
    else events.emit("ended", after, before);
  };
  const moved = async (work: () => Move | undefined): Promise<boolean> => (await commit(work, told)) !== undefined;

  function settle(job: Job): Move | undefined {
    const trigger = triggerDue(job, clock.now());
    if (!trigger) {
      save(job);
      return undefined;
    }
    if (nextState(job.status, trigger) !== removed && job.status === "IN_PROGRESS") {
      const error = `the job ran longer than its executionTimeout of ${executionLimit(job)} ms: raise policy.executionTimeout`;
      return { before: job, after: finishAs(moves.timedOut(job, error, clock.now())) };
    }
    jobs.remove(job.seq);
    return { before: job, after: undefined };
  }

  const found = (endpointId: string, id: string): Job | undefined => {
    const job = jobs.find(id);
    // What is due is over, even when the supervisor comes a moment later.
    return job?.endpointId === endpointId && !isGone(job) ? job : undefined;
  };
  const isGone = (job: Job): boolean => {
    const trigger = triggerDue(job, clock.now());
    // A job that ran out of its own time is still there, unless its ttl is over as well.
    return job.expiresAt <= clock.now() || (trigger !== undefined && trigger !== "timeOut");
  };

  return {
    find: found,

    submit: (job) =>
      commit(
        () => {
          if (!deps.exists(job.endpointId)) return undefined;
          return moves.queued(job, jobs.insert(job));
        },
        (queued) => void (queued && events.emit("queued", queued, false)),
      ),

    take: (id, workerId) =>
      commit(
        () => {
          const before = jobs.find(id);
          if (before?.status !== "IN_QUEUE" || isGone(before)) return undefined;
          const payload = jobs.payload(before.seq);
          if (!payload) return undefined;
          const job = moves.taken(before, workerId, clock.now());
          save(job);
          return { ...payload, job };
        },
        (taken) => taken && events.emit("started", taken.job),
      ),

    finish: (id, workerId, outcome) =>
      moved(() => {
        const before = runBy(id, workerId);
        if (!before) return undefined;
        const after =
          "error" in outcome ? moves.failed(before, outcome.error, clock.now()) : moves.completed(before, clock.now());
        return { before, after: finishAs(after, outcome) };
      }),

    progress: (id, workerId, output) =>
      commit(() => {
        const job = runBy(id, workerId);
        if (job) jobs.setOutput(job.seq, output);
        return job !== undefined;
      }),

    giveBack: (id, workerId, reason, error) =>
      moved(() => {
        const before = runBy(id, workerId);
        if (!before) return undefined;
        const crashes = before.crashes + (reason === "crashed" ? 1 : 0);
        if (crashes > crashLimit) {
          const after = moves.failed({ ...before, crashes }, error, clock.now());
          return { before, after: finishAs(after, { output: undefined }) };
        }
        const counted = reason !== "undelivered";
        const retries = before.retries + (counted ? 1 : 0);
        return { before, after: queueAgain(before, { retries, crashes }, counted) };
      }),

    refuse: (id, error) =>
      moved(() => {
        const before = jobs.find(id);
        if (before?.status !== "IN_QUEUE") return undefined;
        return { before, after: finishAs(moves.failed(before, error, clock.now())) };
      }),

    async cancel(endpointId, id) {
      const answer = await commit(
        () => {
          const before = found(endpointId, id);
          if (!before || isOver(before)) return { job: before, move: undefined };
          const after = finishAs(moves.cancelled(before, clock.now()));
          return { job: after, move: { before, after } };
        },
        ({ move }) => told(move),
      );
      return answer.job;
    },

    async retry(endpointId, id) {
      const answer = await commit(
        () => {
          const before = found(endpointId, id);
          if (!before) return undefined;
          if (before.status !== "FAILED" && before.status !== "TIMED_OUT") return { job: before, move: undefined };
          const anew = { queuedAt: clock.now(), place: jobs.nextPlace() };
          const changes = { ...anew, retries: before.retries + 1, crashes: 0 };
          const after = queueAgain(before, changes, true);
          return { job: after, move: { before, after } };
        },
        (done) => told(done?.move),
      );
      return answer && { job: answer.job, retried: answer.move !== undefined };
    },

    async purge(endpointId) {
      const gone = await commit(
        () => jobs.purge(endpointId),
        (waiting) => {
          for (const id of waiting) events.emit("removed", { id, endpointId, status: "IN_QUEUE" });
        },
      );
      return gone.length;
    },

    setTtl: (endpointId, id, ttl) =>
      commit(
        () => {
          const job = found(endpointId, id);
          const retimed = job && { ...job, expiresAt: job.createdAt + ttl };
          if (retimed) save(retimed);
          return retimed;
        },
        (retimed) => void (retimed && events.emit("retimed", retimed)),
      ).then(() => undefined),

    async settleDue() {
      for (;;) {
        const settled = await commit(
          () => jobs.due(clock.now(), dueBatch).map(settle),
          (done) => done.forEach(told),
        );
        // A job may be due twice, for its own time and for its ttl.
        if (settled.length === 0) return jobs.nextDue();
      }
    },

    recover(outlives) {
      const kept: RunningJob[] = [];
      for (const job of jobs.running()) {
        if (job.status !== "IN_PROGRESS") continue;
        if (outlives(job.workerId)) kept.push(job);
        else queueAgain(job, { retries: job.retries + 1 }, true);
      }
      return kept;
    },
  };
}
