import type { JobStatus } from "serverless-compute-api/shapes";

/** A job under the rules of the interface, without store, queue or events. */
export interface ModelJob {
  id: string;
  endpointId: string;
  operation: "run" | "runsync";
  executionTimeout: number | undefined;
  hasWebhook: boolean;
  createdAt: number;
  expiresAt: number;
  queuedAt: number;
  status: JobStatus | "REMOVED";
  workerId: string | undefined;
  startedAt: number | undefined;
  finishedAt: number | undefined;
  retries: number;
  crashes: number;
  output: string | undefined;
  /** Text that the record's error must contain. */
  error: string | undefined;
  /** Position in the queue: lower is earlier. */
  arrival: number;
  /** True if the job had expired in the queue when a worker requested it. */
  passedOver: boolean;
}

type FinalStatus = Exclude<JobStatus, "IN_QUEUE" | "IN_PROGRESS">;
type ModelCounters = Record<FinalStatus | "retried", number>;

type NewModelJob = Pick<
  ModelJob,
  "id" | "endpointId" | "operation" | "executionTimeout" | "hasWebhook" | "createdAt" | "expiresAt"
>;

const minute = 60_000;
const retention = { run: 30 * minute, runsync: minute };
const defaultExecution = 10 * minute;
/** Execution limits of the endpoints in the histories. */
export const endpointLimits: Record<string, number | undefined> = { plain: undefined, strict: 20_000 };

/** Returns true for the remote worker, which survives the service. */
export const outlives = (workerId: string): boolean => workerId === "worker-2";

/** Reference model of the job path: records of jobs under simple rules. */
export class Model {
  readonly jobs = new Map<string, ModelJob>();
  readonly counters = new Map<string, ModelCounters>();
  /** Notifications to deliver, "<job> <status>". */
  notices: string[] = [];
  /** Workers waiting at the endpoints' queues, and their deliveries as "<job> <worker>". */
  readonly waiters = new Map<string, string[]>();
  input: string[] = [];
  #arrivals = 0;

  copy(): Model {
    const copy = new Model();
    for (const [id, job] of this.jobs) copy.jobs.set(id, { ...job });
    for (const [id, counted] of this.counters) copy.counters.set(id, { ...counted });
    copy.notices = [...this.notices];
    for (const [endpointId, workers] of this.waiters) copy.waiters.set(endpointId, [...workers]);
    copy.#arrivals = this.#arrivals;
    return copy;
  }

  /** Returns a job in one of these states, or any job so far, including removed jobs, if none matches. */
  pick(at: number, states: ModelJob["status"][]): ModelJob | undefined {
    const all = [...this.jobs.values()];
    const fitting = all.filter(({ status }) => states.includes(status));
    const some = fitting.length > 0 ? fitting : all;
    return some[at % Math.max(1, some.length)];
  }

  countersOf(endpointId: string): ModelCounters {
    return this.counters.get(endpointId) ?? { COMPLETED: 0, FAILED: 0, CANCELLED: 0, TIMED_OUT: 0, retried: 0 };
  }

  #count(job: ModelJob, counter: keyof ModelCounters): void {
    const counted = this.countersOf(job.endpointId);
    this.counters.set(job.endpointId, { ...counted, [counter]: counted[counter] + 1 });
  }

  #end(job: ModelJob, status: FinalStatus, now: number, output: string | undefined, error?: string): true {
    Object.assign(job, { status, finishedAt: now, output, error });
    this.#count(job, status);
    if (job.hasWebhook) this.notices.push(`${job.id} ${status}`);
    return true;
  }

  #requeue(job: ModelJob, now: number): true {
    const nothing = { workerId: undefined, startedAt: undefined, finishedAt: undefined, output: undefined };
    Object.assign(job, { ...nothing, error: undefined, status: "IN_QUEUE", passedOver: false });
    this.assign(job.endpointId, now);
    return true;
  }

  /** A worker starts to wait at a queue. */
  wait(endpointId: string, workerId: string): void {
    this.waiters.set(endpointId, [...(this.waiters.get(endpointId) ?? []), workerId]);
  }

  /** Assigns the first queued job to the worker that started to wait last; returns false if there is none. */
  serve(endpointId: string, now: number): boolean {
    const workers = this.waiters.get(endpointId) ?? [];
    const worker = workers.at(-1);
    const jobId = worker === undefined ? undefined : this.#takeFirst(endpointId, worker, now);
    if (jobId === undefined) return false;
    this.input.push(`${jobId} ${worker}`);
    workers.pop();
    return true;
  }

  /** Assigns queued jobs to waiting workers. */
  assign(endpointId: string, now: number): void {
    while (this.serve(endpointId, now));
  }

  /** Jobs in the queue. */
  queued(endpointId: string): ModelJob[] {
    return this.waiting(endpointId).filter(({ passedOver }) => !passedOver);
  }

  submit(job: NewModelJob): void {
    const nothing = { workerId: undefined, startedAt: undefined, finishedAt: undefined, output: undefined };
    const fresh = { queuedAt: job.createdAt, retries: 0, crashes: 0, arrival: this.#arrivals++ };
    this.jobs.set(job.id, { ...job, ...nothing, ...fresh, status: "IN_QUEUE", error: undefined, passedOver: false });
    this.assign(job.endpointId, job.createdAt);
  }

  #take(job: ModelJob, workerId: string, now: number): boolean {
    if (job.status !== "IN_QUEUE") return false;
    if (job.expiresAt <= now) {
      job.passedOver = true;
      return false;
    }
    Object.assign(job, { status: "IN_PROGRESS", workerId, startedAt: now });
    return true;
  }

  /** Assigns the first queued job that has not expired to a worker. */
  #takeFirst(endpointId: string, workerId: string, now: number): string | undefined {
    return this.queued(endpointId).find((job) => this.#take(job, workerId, now))?.id;
  }

  #isOf(job: ModelJob, workerId: string, now: number): boolean {
    return job.status === "IN_PROGRESS" && job.workerId === workerId && job.expiresAt > now;
  }

  finish(job: ModelJob, workerId: string, now: number, output: string | undefined, error?: string): boolean {
    if (!this.#isOf(job, workerId, now)) return false;
    return this.#end(job, error === undefined ? "COMPLETED" : "FAILED", now, output, error);
  }

  progress(job: ModelJob, workerId: string, now: number, output: string): boolean {
    if (!this.#isOf(job, workerId, now)) return false;
    job.output = output;
    return true;
  }

  requeue(job: ModelJob, workerId: string, now: number, reason: string, error: string): boolean {
    if (!this.#isOf(job, workerId, now)) return false;
    if (reason === "crashed") job.crashes++;
    if (job.crashes > 2) return this.#end(job, "FAILED", now, undefined, error);
    if (reason !== "undelivered") {
      job.retries++;
      this.#count(job, "retried");
    }
    return this.#requeue(job, now);
  }

  refuse(job: ModelJob, now: number, error: string): boolean {
    return job.status === "IN_QUEUE" && this.#end(job, "FAILED", now, undefined, error);
  }

  /** Returns true if a client can see the job. */
  isVisible(job: ModelJob, now: number): boolean {
    if (job.status === "REMOVED") return false;
    const { at, trigger } = this.#deadline(job);
    return job.expiresAt > now && (at > now || trigger === "timeOut");
  }

  cancel(job: ModelJob, now: number): boolean {
    if (!this.isVisible(job, now) || (job.status !== "IN_QUEUE" && job.status !== "IN_PROGRESS")) return false;
    return this.#end(job, "CANCELLED", now, job.output);
  }

  retry(job: ModelJob, now: number): boolean {
    if (!this.isVisible(job, now) || (job.status !== "FAILED" && job.status !== "TIMED_OUT")) return false;
    Object.assign(job, { queuedAt: now, crashes: 0, retries: job.retries + 1, arrival: this.#arrivals++ });
    this.#count(job, "retried");
    return this.#requeue(job, now);
  }

  purge(endpointId: string): number {
    const deleted = this.waiting(endpointId);
    for (const job of deleted) job.status = "REMOVED";
    return deleted.length;
  }

  setTtl(job: ModelJob, now: number, ttl: number): void {
    if (this.isVisible(job, now)) job.expiresAt = job.createdAt + ttl;
  }

  #deadline(job: ModelJob): { at: number; trigger: "outlive" | "expire" | "timeOut" } {
    const outlive = { at: job.expiresAt, trigger: "outlive" as const };
    const limit = job.executionTimeout ?? endpointLimits[job.endpointId] ?? defaultExecution;
    const next =
      job.finishedAt !== undefined
        ? { at: job.finishedAt + retention[job.operation], trigger: "expire" as const }
        : job.startedAt !== undefined
          ? { at: job.startedAt + limit, trigger: "timeOut" as const }
          : outlive;
    return next.at < outlive.at ? next : outlive;
  }

  /** Time of the next expiry or timeout of any job. */
  nextDue(): number | undefined {
    const present = [...this.jobs.values()].filter(({ status }) => status !== "REMOVED");
    return present.length === 0 ? undefined : Math.min(...present.map((job) => this.#deadline(job).at));
  }

  /** Applies everything that is due at `now`. */
  settle(now: number): void {
    for (const job of this.jobs.values()) {
      while (job.status !== "REMOVED" && this.#deadline(job).at <= now) {
        if (this.#deadline(job).trigger === "timeOut") this.#end(job, "TIMED_OUT", now, job.output, "executionTimeout");
        else job.status = "REMOVED";
      }
    }
  }

  /** Restarts the service: running jobs are requeued unless their worker still runs them. */
  recover(now: number): void {
    this.waiters.clear();
    const present = [...this.jobs.values()];
    for (const job of present) {
      if (job.status !== "IN_PROGRESS" || outlives(job.workerId ?? "")) continue;
      job.retries++;
      this.#count(job, "retried");
      this.#requeue(job, now);
    }
    for (const job of present) job.passedOver = false;
  }

  /** Queued jobs in the order of assignment. */
  waiting(endpointId: string): ModelJob[] {
    const waiting = [...this.jobs.values()].filter((job) => job.endpointId === endpointId && job.status === "IN_QUEUE");
    return waiting.sort((a, b) => a.arrival - b.arrival);
  }

  running(endpointId: string): number {
    return [...this.jobs.values()].filter((job) => job.endpointId === endpointId && job.status === "IN_PROGRESS")
      .length;
  }
}
