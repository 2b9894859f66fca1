import { expect } from "vitest";
import type { JobDelivery } from "../../../service/queue/job";
import type { Database } from "../../../service/store/database";
import { ManualClock } from "../../support/manual-clock";
import { Model, type ModelJob } from "./model";
import { type Life, startLife } from "./parts";
import type { Operation, Step } from "./steps";

/** A running operation and its expected result. */
interface Call {
  response: Promise<unknown>;
  expected: unknown;
  what: string;
}

/** Job states to which each operation applies. */
const fits: Record<Extract<Operation, { at: number }>["kind"], ModelJob["status"][]> = {
  done: ["IN_PROGRESS"],
  fail: ["IN_PROGRESS"],
  progress: ["IN_PROGRESS"],
  requeue: ["IN_PROGRESS"],
  refuse: ["IN_QUEUE"],
  cancel: ["IN_QUEUE", "IN_PROGRESS"],
  retry: ["FAILED", "TIMED_OUT"],
  setTtl: ["IN_QUEUE", "IN_PROGRESS", "COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT"],
};

/** Returns true if a worker ends with the service and starts a queued job before the start is committed, like the service's own workers. */
const startsEarly = (worker: number): boolean => worker === 1;

/** Lets pending work finish: a commit and its consequences take a few turns. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Plays histories on the real job path and on the model in parallel. */
export class Player {
  readonly #database: Database;
  readonly #punctual: boolean;
  readonly #clock = new ManualClock();
  #model = new Model();
  #life: Life;
  /** Jobs delivered to waiting workers, as "<job> <worker>". */
  #given: string[] = [];
  #ids = 0;
  /** Workers of the turn that wait, by their operations; true if the worker started a job before its transactions. */
  readonly #waits = new Map<Operation, boolean>();

  constructor(database: Database, punctual: boolean) {
    this.#database = database;
    this.#punctual = punctual;
    for (const table of ["webhooks", "job_counters", "job_progress", "job_streams", "jobs"])
      database.prepare(`DELETE FROM ${table}`).run();
    this.#life = startLife(database, this.#clock, punctual);
  }

  get model(): Model {
    return this.#model;
  }
  get life(): Life {
    return this.#life;
  }
  get now(): number {
    return this.#clock.now();
  }
  async play(step: Step): Promise<void> {
    if (step.kind === "time") return this.#pass(step.ms);
    if (step.kind === "pass") {
      if (this.#punctual) return;
      const next = await this.#life.expiry.pass();
      this.#model.settle(this.now);
      expect(next, "time of the supervisor's next pass").toBe(this.#model.nextDue());
      return;
    }
    if (step.dies) return this.#killedDuring(step.operations);
    const calls = this.#startAll(step.operations, this.#model);
    await quiet();
    expect(this.#given, "deliveries to waiting workers").toEqual(this.#model.input);
    // A shorter ttl may have expired, so that the timer fires immediately.
    if (this.#punctual) this.#model.settle(this.now);
    for (const call of calls) expect(await call.response, call.what).toEqual(call.expected);
  }

  async end(): Promise<void> {
    await this.#life.die();
    await quiet();
  }

  /** Advances the clock: in one step, or from one due event to the next if the history is punctual. */
  async #pass(ms: number): Promise<void> {
    const end = this.now + ms;
    for (;;) {
      const due = this.#punctual ? this.#model.nextDue() : undefined;
      if (due === undefined || due > end) break;
      await this.#clock.advance(due - this.now);
      await quiet();
      this.#model.settle(this.now);
    }
    await this.#clock.advance(end - this.now);
    await quiet();
  }

  /** Kills the service in the turn that received the operations: no call succeeds and no operation takes effect. */
  async #killedDuring(operations: Operation[]): Promise<void> {
    const forgotten = this.#model.copy();
    const calls = this.#startAll(operations, forgotten);
    const outcomes = Promise.allSettled(calls.map((call) => call.response));
    await this.#life.die();
    await quiet();
    for (const [index, { status }] of (await outcomes).entries())
      expect(status, `${calls[index]?.what} while the service was killed`).toBe("rejected");
    this.#given = [];
    this.#model.input = [];
    this.#model.recover(this.now);
    this.#life = startLife(this.#database, this.#clock, this.#punctual);
    if (this.#punctual) {
      await quiet();
      this.#model.settle(this.now);
    }
  }

  /** Starts all operations of a turn. A worker waits immediately, and may start a job immediately, even with other operations on their way to the store. */
  #startAll(operations: Operation[], model: Model): Call[] {
    this.#waits.clear();
    for (const operation of operations) {
      if (operation.kind !== "wait" && operation.kind !== "take") continue;
      const { endpointId, worker } = operation;
      if (operation.kind === "take" && model.queued(endpointId).length === 0) continue;
      model.wait(endpointId, `worker-${worker}`);
      this.#waits.set(operation, startsEarly(worker) && model.serve(endpointId, this.now));
    }
    return operations.map((operation) => this.#start(operation, model)).filter((call) => call !== undefined);
  }

  /** Starts an operation and applies it to `model`; does nothing without a matching job. */
  #start(operation: Operation, model: Model): Call | undefined {
    const { jobs } = this.#life;
    const now = this.now;
    const call = (response: Promise<unknown>, expected: unknown, id = ""): Call => ({
      response,
      expected,
      what: `${operation.kind} ${id}`,
    });
    switch (operation.kind) {
      case "run": {
        const { kind: _kind, ttl, hasWebhook, ...fields } = operation;
        const job = { ...fields, id: `job-${this.#ids++}`, createdAt: now, queuedAt: now, expiresAt: now + ttl };
        const rest = { lowPriority: false, s3Config: undefined, input: "{}" };
        const webhook = hasWebhook ? "http://127.0.0.1:9/" : undefined;
        const response = jobs.submit({ ...job, ...rest, webhook }).then(() => job.id);
        model.submit({ ...job, hasWebhook });
        return call(response, job.id, job.id);
      }
      case "take":
      case "wait": {
        const startedEarly = this.#waits.get(operation);
        if (startedEarly === undefined) return undefined;
        const { endpointId } = operation;
        const workerId = `worker-${operation.worker}`;
        const { signal, active } = this.#life;
        const deliver = (deliveries: readonly JobDelivery[]): void => {
          if (signal.aborted) return;
          for (const { job } of deliveries) this.#given.push(`${job.id} ${workerId}`);
        };
        const isServed = active.ready(endpointId).size > 0 && !startedEarly;
        jobs.wait(endpointId, { workerId, deliver, endsWithService: startsEarly(operation.worker) });
        // If the queue contains a job, the worker is served in turn; otherwise it receives the next job.
        if (isServed) model.assign(endpointId, now);
        return undefined;
      }
      case "purge":
        return call(jobs.purge(operation.endpointId), model.purge(operation.endpointId));
    }
    const job = model.pick(operation.at, operation.fitting ? fits[operation.kind] : []);
    return job && this.#startOn(job, operation, model, call);
  }

  #startOn(
    job: ModelJob,
    operation: Extract<Operation, { at: number }>,
    model: Model,
    call: (response: Promise<unknown>, expected: unknown, id: string) => Call,
  ): Call {
    const { jobs } = this.#life;
    const { id, endpointId } = job;
    const now = this.now;
    const workerId = operation.fitting ? (job.workerId ?? "nobody") : "a stranger";
    const worker = { id: workerId, endpointId };
    switch (operation.kind) {
      case "done":
        return call(jobs.finish(id, worker, { output: '"done"' }), model.finish(job, workerId, now, '"done"'), id);
      case "fail":
        return call(
          jobs.finish(id, worker, { error: "failed", output: undefined }),
          model.finish(job, workerId, now, undefined, "failed"),
          id,
        );
      case "progress":
        return call(jobs.progress(id, worker, '"half"'), model.progress(job, workerId, now, '"half"'), id);
      case "requeue": {
        const { reason } = operation;
        return call(jobs.requeue(id, worker, reason, "lost"), model.requeue(job, workerId, now, reason, "lost"), id);
      }
      case "refuse":
        return call(jobs.reject(id, "refused"), model.refuse(job, now, "refused"), id);
      case "cancel": {
        const response = jobs.cancel(endpointId, id).then((cancelled) => cancelled?.status);
        const received = model.isVisible(job, now);
        model.cancel(job, now);
        return call(response, received ? job.status : undefined, id);
      }
      case "retry": {
        const response = jobs.retry(endpointId, id).then((retry) => retry?.retried);
        const received = model.isVisible(job, now);
        const retried = model.retry(job, now);
        return call(response, received ? retried : undefined, id);
      }
      case "setTtl":
        model.setTtl(job, now, operation.ttl);
        return call(jobs.setTtl(endpointId, id, operation.ttl), undefined, id);
    }
  }
}
