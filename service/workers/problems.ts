import type { Clock } from "serverless-compute-api/clock";
import type { JobTimings } from "../jobs/timings";
import type { LocalWorker } from "./local-worker";
import type { ProcessEnd } from "./process";
import { phaseOf } from "./registry";

export type WorkerProblems = ReturnType<typeof createWorkerProblems>;

/** Why the workers of endpoints do no work, for `/health`, `status` and the console. */
export function createWorkerProblems(clock: Clock, timings: JobTimings) {
  const starts = new Map<string, string>();
  const crashes = new Map<string, string>();

  /** A worker that has been up for long and never asked for a job. */
  function silent(workers: LocalWorker[]): string | undefined {
    const now = clock.now();
    const found = workers.find(
      ({ worker }) => worker.firstAskAt === undefined && phaseOf(worker, now, timings) === "unhealthy",
    );
    if (!found) return undefined;
    const { worker, image } = found;
    const seconds = Math.round((now - worker.startedAt) / 1000);
    if (worker.serves === "requests")
      return `workers of the image "${image}" are not healthy: ${worker.id} has run for ${seconds} s${found.lastCheck === undefined ? "" : `; ${found.lastCheck}`}; its program must return 200 to health checks${unreachedBy(found)}`;
    return `workers of the image "${image}" do not ask for jobs: ${worker.id} has run for ${seconds} s; its program must take jobs, as the SDK's serverless.start does${unreachedBy(found)}`;
  }

  return {
    /** No worker can be started. */
    cannotStart: (endpointId: string, why: string): void => void starts.set(endpointId, why),
    /** A worker ended before it asked for a job. Returns why, for the jobs that wait. */
    startFailed(endpointId: string, local: LocalWorker, end: ProcessEnd): string {
      const unreached = local.reason === undefined ? "" : unreachedBy(local);
      // Of an image that cannot be fetched nothing ever ran.
      const due = local.worker.serves === "requests" ? "was healthy" : "asked for a job";
      const when = local.worker.preparing ? "" : `, before it ${due}`;
      const how = `${howItEnded(local, end)}${when}`;
      const why = `workers of the image "${local.image}" do not start: the last one ${how}${unreached}${lastWordsOf(local, end)}`;
      starts.set(endpointId, why);
      return why;
    },
    /** A worker ended while it ran a job; `crashed` unless it had to end. Returns how, for the job. */
    jobLost(endpointId: string, local: LocalWorker, end: ProcessEnd, crashed: boolean): string {
      const [how, lastWords] = [howItEnded(local, end), lastWordsOf(local, end)];
      const why = `workers of the image "${local.image}" crash: the last one ${how} while it ran a job${lastWords}`;
      if (crashed) crashes.set(endpointId, why);
      return `the worker ${how} while it ran the job${lastWords}`;
    },
    /** A worker came up. */
    started: (endpointId: string): void => void starts.delete(endpointId),
    /** A worker did a job. */
    worked: (endpointId: string): void => void crashes.delete(endpointId),
    forget(endpointId: string): void {
      starts.delete(endpointId);
      crashes.delete(endpointId);
    },
    /** The problem of an endpoint with these workers; undefined when there is none. */
    of: (endpointId: string, workers: LocalWorker[]): string | undefined =>
      silent(workers) ?? starts.get(endpointId) ?? crashes.get(endpointId),
  };
}

/** Possible obstacle between a worker and the service, as the end of a sentence; empty if the worker has called. */
function unreachedBy({ worker, process }: LocalWorker): string {
  const obstacle = worker.pinged ? undefined : process.obstacle?.();
  return obstacle === undefined ? "" : `; ${obstacle}`;
}

/** How a worker came to its end, as words that follow "the worker". */
const howItEnded = ({ reason }: LocalWorker, end: ProcessEnd): string =>
  reason === undefined ? end.how : `was ended by the service because it ${reason}`;

/** The first line of an error: "TypeError: …", "Error [CODE]: …", "ModuleNotFoundError: …", "requests.exceptions.Timeout: …". */
const errorLine = /^(?:Uncaught )?(?:[\w.]*(?:Error|Exception)|[\w.]+\.exceptions\.\w+)(?: \[\w+\])?(?::|$)/;

/** The first error it reported, then its last lines, as the end of a sentence; empty if it wrote nothing. */
function lastWordsOf({ redact }: LocalWorker, { lastErrors }: ProcessEnd): string {
  if (lastErrors.length === 0) return "";
  const lines = lastErrors.map(redact);
  const error = lines.find((line) => errorLine.test(line));
  return `${error === undefined ? "" : `: ${error}`}; its last lines:\n${lines.join("\n")}`;
}
