import type { EndpointWorkers, JobRecord, WorkerRecord } from "serverless-compute-api";
import { callOptions } from "../../lifecycle/calls";
import type { Context } from "../../lifecycle/contract";
import { waitForPollTurn } from "../../lifecycle/poll-rate-limit";
import type { Deadline } from "./deadline";

/** Time to wait for new workers before a job is sent in any case (ms); doubles with each job, up to `maxPatience`. */
const firstPatience = 10_000;
const maxPatience = 60_000;

/** Polling interval of the workers (ms). */
const interval = 1000;

/**
 * Workers of an endpoint during a rollout. A worker that was ever reported with another version is old. If the service reports no
 * versions, the workers that existed before the change are old. All other workers started later and run the new version.
 */
export interface Rollout {
  /** Version of new workers, if the service reports it. */
  version(): number | undefined;
  /** Text with the number of workers on the new version. */
  text(): string;
  /** Waits until a new worker is up, no old worker is left, or the patience or the deadline has expired. */
  untilReady(): Promise<void>;
  /** Waits until only new workers are up, or none is required; false if the deadline expires first. */
  untilSettled(workersMin: number): Promise<boolean>;
  /** Returns true if a worker of the new version ran the job; undefined if the service does not report it. */
  ranOnNew(job: JobRecord): Promise<boolean | undefined>;
}

const isUp = ({ status }: WorkerRecord): boolean => status === undefined || /^(running|idle|ready)$/i.test(status);

/**
 * Follows the workers of an endpoint until a deadline; `before` are the workers before the change, for services that show no
 * version of a worker.
 */
export function followRollout(
  endpointId: string,
  before: EndpointWorkers | undefined,
  deadline: Deadline,
  context: Context,
): Rollout {
  const old = new Set<string>();
  const known = new Set<string>();
  let current: EndpointWorkers = { version: undefined, workers: [] };
  let patience = firstPatience;
  let certainOnly = false;
  let oldAtPoll = 0;

  const isOld = ({ id, isStale, version }: WorkerRecord): boolean => {
    if (isStale !== undefined) return isStale;
    if (version !== undefined && current.version !== undefined) return version < current.version;
    return before?.workers.some((worker) => worker.id === id) ?? false;
  };
  const poll = async (ms = 0): Promise<void> => {
    deadline.extend(await waitForPollTurn(context, ms));
    current = await context.clients.management.readWorkers(endpointId, callOptions(context));
    for (const worker of current.workers) {
      known.add(worker.id);
      if (isOld(worker)) old.add(worker.id);
    }
    oldAtPoll = current.workers.filter(({ id }) => old.has(id)).length;
  };
  const fresh = (): WorkerRecord[] => current.workers.filter(({ id }) => !old.has(id));
  const text = (): string => {
    const { version, workers } = current;
    const target = version === undefined ? "the new version" : `version ${version}`;
    return workers.length === 0
      ? `no workers yet on ${target}`
      : `${fresh().length} of ${workers.length} workers on ${target}`;
  };

  return {
    version: () => current.version,
    text,
    async untilReady() {
      const { progress } = context;
      const patient = deadline.left() - patience;
      for (let wait = 0; ; wait = interval) {
        await poll(wait);
        progress(text());
        const reachable = certainOnly ? oldAtPoll === 0 : oldAtPoll === 0 || fresh().some(isUp);
        if (reachable || deadline.left() <= 0) return;
        if (!certainOnly && deadline.left() <= patient) break;
      }
      patience = Math.min(maxPatience, patience * 2);
    },
    async untilSettled(workersMin) {
      const { progress } = context;
      for (let wait = 0; ; wait = interval) {
        await poll(wait);
        progress(text());
        if (oldAtPoll === 0 && (fresh().some(isUp) || (fresh().length === 0 && workersMin === 0))) return true;
        if (deadline.left() <= 0) return false;
      }
    },
    async ranOnNew({ workerId }) {
      const oldBefore = oldAtPoll;
      if (workerId === undefined) {
        // From now on, a job is sent only when no old worker is left.
        certainOnly = true;
        return oldBefore === 0 ? true : undefined;
      }
      if (!known.has(workerId)) await poll();
      return !old.has(workerId);
    },
  };
}
