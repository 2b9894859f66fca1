import { type EndpointWorkers, type JobRecord, readDespiteOutage, type WorkerRecord } from "serverless-compute-api";
import { callOptions } from "../../framework/calls";
import type { Context } from "../../framework/contract";
import { acquirePoll } from "../../framework/poll-limiter";
import type { Verify } from "./inputs";

/** Time reserved for a rollback: a fifth of the operation's remaining time, up to a maximum (ms). */
const rollbackDivisor = 5;
const maxRollbackTime = 30_000;

/** Time limit of a verification. */
export interface Deadline {
  /** Returns the remaining time (ms); 0 or less after the deadline. */
  remaining(): number;
  /** Extends the deadline by the wait for a polling turn (ms). */
  extend(ms: number): void;
}

/**
 * Returns the deadline of a verification: its own timeout, extended by waits for polling turns, but early enough for a rollback
 * before the operation's timeout, which the failure then names.
 */
export function deadlineOf(
  { timeout }: Verify,
  { clock, deadline, onDeadline }: Pick<Context, "clock" | "deadline" | "onDeadline">,
): Deadline {
  const now = clock.now();
  let ownDeadline = now + timeout * 1000;
  const latest =
    deadline === undefined
      ? Number.POSITIVE_INFINITY
      : deadline - Math.min(maxRollbackTime, Math.max(0, deadline - now) / rollbackDivisor);
  return {
    remaining: () => {
      const remaining = Math.min(ownDeadline, latest) - clock.now();
      if (remaining <= 0 && latest < ownDeadline) onDeadline?.();
      return remaining;
    },
    extend: (ms) => {
      ownDeadline += ms;
    },
  };
}

/** Time to wait for new workers before a job is sent in any case (ms); doubles with each job, up to `maxReadyWait`. */
const firstReadyWait = 10_000;
const maxReadyWait = 60_000;

/** Polling interval of the workers (ms). */
const interval = 1000;

/**
 * Workers of an endpoint during a rollout. A worker that was ever reported with another version is old. If the service reports no
 * versions, the workers that existed before the change are old. All other workers started later and run the new version.
 */
export interface Rollout {
  /** Version of new workers, if the service reports it. */
  version(): number | undefined;
  /** Text that names the new version, such as `version 2`. */
  target(): string;
  /** Text with the number of workers on the new version at the last poll. */
  text(): string;
  /** Waits until a new worker is up, no old worker is left, or the patience or the deadline has expired. */
  waitUntilReady(): Promise<void>;
  /** Waits until only new workers are up, or none is required; false if the deadline expires first. */
  waitUntilSettled(workersMin: number): Promise<boolean>;
  /** Returns true if a worker of the new version ran the job; undefined if the service does not report it. */
  ranOnNewWorker(job: JobRecord): Promise<boolean | undefined>;
}

const isUp = ({ status }: WorkerRecord): boolean => status === undefined || /^(running|idle|ready)$/i.test(status);

/**
 * Follows the workers of an endpoint until a deadline; `oldWorkers` are the workers before the change, for services that show no
 * version of a worker.
 */
export function followRollout(
  endpointId: string,
  oldWorkers: EndpointWorkers | undefined,
  deadline: Deadline,
  context: Context,
): Rollout {
  const oldIds = new Set<string>();
  const knownIds = new Set<string>();
  let current: EndpointWorkers = { version: undefined, workers: [] };
  let readyWait = firstReadyWait;
  let requiresNoOldWorkers = false;
  let oldCount = 0;

  const isOld = ({ id, isStale, version }: WorkerRecord): boolean => {
    if (isStale !== undefined) return isStale;
    if (version !== undefined && current.version !== undefined) return version < current.version;
    return oldWorkers?.workers.some((worker) => worker.id === id) ?? false;
  };
  const poll = async (ms = 0): Promise<void> => {
    deadline.extend(await acquirePoll(context, ms));
    const { clients, clock, signal } = context;
    const read = () => clients.management.readWorkers(endpointId, callOptions(context));
    current = await readDespiteOutage(read, clock, { signal, timeLimit: deadline.remaining() });
    for (const worker of current.workers) {
      knownIds.add(worker.id);
      if (isOld(worker)) oldIds.add(worker.id);
    }
    oldCount = current.workers.filter(({ id }) => oldIds.has(id)).length;
  };
  const newWorkers = (): WorkerRecord[] => current.workers.filter(({ id }) => !oldIds.has(id));
  const target = (): string => (current.version === undefined ? "the new version" : `version ${current.version}`);
  const text = (): string => {
    const { length } = current.workers;
    return length === 0
      ? `no workers yet on ${target()}`
      : `${newWorkers().length} of ${length} workers on ${target()}`;
  };

  return {
    version: () => current.version,
    target,
    text,
    async waitUntilReady() {
      const { progress } = context;
      const readyThreshold = deadline.remaining() - readyWait;
      for (let wait = 0; ; wait = interval) {
        await poll(wait);
        progress(text());
        const isReady = requiresNoOldWorkers ? oldCount === 0 : oldCount === 0 || newWorkers().some(isUp);
        if (isReady || deadline.remaining() <= 0) return;
        if (!requiresNoOldWorkers && deadline.remaining() <= readyThreshold) break;
      }
      readyWait = Math.min(maxReadyWait, readyWait * 2);
    },
    async waitUntilSettled(workersMin) {
      const { progress } = context;
      for (let wait = 0; ; wait = interval) {
        await poll(wait);
        progress(text());
        if (oldCount === 0 && (newWorkers().some(isUp) || (newWorkers().length === 0 && workersMin === 0))) return true;
        if (deadline.remaining() <= 0) return false;
      }
    },
    async ranOnNewWorker({ workerId }) {
      const previousOldCount = oldCount;
      if (workerId === undefined) {
        // From now on, a job is sent only when no old worker is left.
        requiresNoOldWorkers = true;
        return previousOldCount === 0 ? true : undefined;
      }
      if (!knownIds.has(workerId)) await poll();
      return !oldIds.has(workerId);
    },
  };
}
