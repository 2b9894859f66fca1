import type { Clock } from "serverless-compute-api/clock";
import type { JobTimings } from "../jobs/timings";
import type { LocalWorker } from "./local-worker";
import type { ProcessEnd } from "./process";
import { phaseOf } from "./registry";

export type WorkerProblems = ReturnType<typeof createWorkerProblems>;

/** The reasons why workers of endpoints do not run jobs, for `/health`, `status` and the console. */
export function createWorkerProblems(clock: Clock, timings: JobTimings) {
  const starts = new Map<string, string>();
  const crashes = new Map<string, string>();

  /** The problem of a worker that has not requested a job for a long time after its start. */
  function silent(workers: LocalWorker[]): string | undefined {
    const now = clock.now();
    const found = workers.find(
      ({ worker }) => worker.firstTakeAt === undefined && phaseOf(worker, now, timings) === "unhealthy",
    );
    if (!found) return undefined;
    const { worker, image } = found;
    const seconds = Math.round((now - worker.startedAt) / 1000);
    if (worker.serves === "requests")
      return `workers of the image "${image}" are not healthy: ${worker.id} has run for ${seconds} s${found.lastCheck === undefined ? "" : `; ${found.lastCheck}`}; its program must return 200 to health checks${unreachedBy(found)}`;
    return `workers of the image "${image}" do not request jobs: ${worker.id} has run for ${seconds} s; its program must take jobs, as the SDK's serverless.start does${unreachedBy(found)}`;
  }

  return {
    /** Records that no worker can be started. */
    cannotStart: (endpointId: string, why: string): void => void starts.set(endpointId, why),
    /** Records that a worker ended before its first job-take. Returns the reason, for the waiting jobs. */
    startFailed(endpointId: string, local: LocalWorker, end: ProcessEnd): string {
      const unreached = local.reason === undefined ? "" : unreachedBy(local);
      // If the image cannot be pulled, no program ever ran.
      const due = local.worker.serves === "requests" ? "was healthy" : "requested a job";
      const when = local.worker.preparing ? "" : `, before it ${due}`;
      const how = `${howItEnded(local, end)}${when}`;
      const why = `workers of the image "${local.image}" do not start: the last one ${how}${unreached}${lastWordsOf(local, end)}`;
      starts.set(endpointId, why);
      return why;
    },
    /** Records that a worker ended while it ran a job; `crashed` unless the service ended it. Returns a description, for the job. */
    jobLost(endpointId: string, local: LocalWorker, end: ProcessEnd, crashed: boolean): string {
      const [how, lastWords] = [howItEnded(local, end), lastWordsOf(local, end)];
      const why = `workers of the image "${local.image}" crash: the last one ${how} while it ran a job${lastWords}`;
      if (crashed) crashes.set(endpointId, why);
      return `the worker ${how} while it ran the job${lastWords}`;
    },
    /** Records that a worker started. */
    started: (endpointId: string): void => void starts.delete(endpointId),
    /** Records that a worker ended a job. */
    worked: (endpointId: string): void => void crashes.delete(endpointId),
    forget(endpointId: string): void {
      starts.delete(endpointId);
      crashes.delete(endpointId);
    },
    /** The problem of an endpoint with these workers; undefined without a problem. */
    of: (endpointId: string, workers: LocalWorker[]): string | undefined =>
      silent(workers) ?? starts.get(endpointId) ?? crashes.get(endpointId),
  };
}

/** A possible obstacle between a worker and the service, as the end of a sentence; empty if the worker has sent a ping. */
function unreachedBy({ worker, process }: LocalWorker): string {
  const obstacle = worker.pinged ? undefined : process.obstacle?.();
  return obstacle === undefined ? "" : `; ${obstacle}`;
}

/** Description of a worker's end, as text after "the worker". */
const howItEnded = ({ reason }: LocalWorker, end: ProcessEnd): string =>
  reason === undefined ? end.how : `was stopped by the service because it ${reason}`;

/** The first line of an error: "TypeError: …", "Error [CODE]: …", "ModuleNotFoundError: …", "requests.exceptions.Timeout: …". */
const errorLine = /^(?:Uncaught )?(?:[\w.]*(?:Error|Exception)|[\w.]+\.exceptions\.\w+)(?: \[\w+\])?(?::|$)/;

/** The first error in a worker's output, then its last lines, as the end of a sentence; empty without output. */
function lastWordsOf({ redact }: LocalWorker, { lastErrors }: ProcessEnd): string {
  if (lastErrors.length === 0) return "";
  const lines = lastErrors.map(redact);
  const error = lines.find((line) => errorLine.test(line));
  return `${error === undefined ? "" : `: ${error}`}; its last lines:\n${lines.join("\n")}`;
}
