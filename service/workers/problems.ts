import type { Clock } from "serverless-compute-api/clock";
import type { JobTimings } from "../jobs/timings";
import type { LocalWorker } from "./local-worker";
import { phaseOf } from "./registry";
import type { ProcessEnd } from "./runtimes/runtime";

export type WorkerProblems = ReturnType<typeof createWorkerProblems>;

/** The reasons why workers of endpoints do not run jobs, for `/health`, `status` and the console. */
export function createWorkerProblems(clock: Clock, timings: JobTimings) {
  const startProblems = new Map<string, string>();
  const crashProblems = new Map<string, string>();

  /** The problem of a worker that has not requested a job for a long time after its start. */
  function silentWorkerProblem(workers: LocalWorker[]): string | undefined {
    const now = clock.now();
    const silentWorker = workers.find(
      ({ worker }) => worker.firstTakeAt === undefined && phaseOf(worker, now, timings) === "unhealthy",
    );
    if (!silentWorker) return undefined;
    const { worker, image } = silentWorker;
    const seconds = Math.round((now - worker.startedAt) / 1000);
    if (worker.workload === "requests")
      return `workers of the image "${image}" are not healthy: ${worker.id} has run for ${seconds} s${silentWorker.lastFailedCheck === undefined ? "" : `; ${silentWorker.lastFailedCheck}`}; its program must return 200 to health checks${obstacleText(silentWorker)}`;
    return `workers of the image "${image}" do not request jobs: ${worker.id} has run for ${seconds} s; its program must take jobs, as the SDK's serverless.start does${obstacleText(silentWorker)}`;
  }

  /** The reason why a worker that has not sent a call yet does not run jobs. */
  const waitingProblem = (workers: LocalWorker[]): string | undefined =>
    workers
      .filter(({ worker }) => worker.firstTakeAt === undefined && !worker.hasPinged)
      .map(({ worker }) => worker.waiting()?.reason)
      .find((reason) => reason !== undefined);

  return {
    /** Records that no worker can be started. */
    recordStartError: (endpointId: string, problem: string): void => void startProblems.set(endpointId, problem),
    /** Records that a worker ended before its first job-take. Returns the reason, for the waiting jobs. */
    recordFailedStart(endpointId: string, local: LocalWorker, end: ProcessEnd): string {
      const obstacle = local.reason === undefined ? "" : obstacleText(local);
      // If the image cannot be pulled, no program ever ran.
      const expectedEvent = local.worker.workload === "requests" ? "was healthy" : "requested a job";
      const timing = local.worker.preparing ? "" : `, before it ${expectedEvent}`;
      const { startError } = local.worker;
      const cause = startError === undefined ? timing : `, because ${startError}`;
      const endText = `${describeEnd(local, end)}${cause}`;
      const problem = `workers of the image "${local.image}" do not start: the last one ${endText}${obstacle}${lastOutputText(local, end)}`;
      startProblems.set(endpointId, problem);
      return problem;
    },
    /** Records that a worker ended while it ran a job; `crashed` unless the service ended it. Returns a description, for the job. */
    recordLostJob(endpointId: string, local: LocalWorker, end: ProcessEnd, crashed: boolean): string {
      const [endText, lastOutput] = [describeEnd(local, end), lastOutputText(local, end)];
      const problem = `workers of the image "${local.image}" crash: the last one ${endText} while it ran a job${lastOutput}`;
      if (crashed) crashProblems.set(endpointId, problem);
      return `the worker ${endText} while it ran the job${lastOutput}`;
    },
    /** Records that a worker started. */
    recordStart: (endpointId: string): void => void startProblems.delete(endpointId),
    /** Records that a worker ended a job. */
    recordSuccess: (endpointId: string): void => void crashProblems.delete(endpointId),
    reset(endpointId: string): void {
      startProblems.delete(endpointId);
      crashProblems.delete(endpointId);
    },
    /** The problem of an endpoint with these workers; undefined without a problem. */
    of: (endpointId: string, workers: LocalWorker[]): string | undefined =>
      silentWorkerProblem(workers) ??
      waitingProblem(workers) ??
      startProblems.get(endpointId) ??
      crashProblems.get(endpointId),
  };
}

/** A possible obstacle between a worker and the service, as the end of a sentence; empty if the worker has sent a ping. */
function obstacleText({ worker, process }: LocalWorker): string {
  const obstacle = worker.hasPinged ? undefined : process.obstacle?.();
  return obstacle === undefined ? "" : `; ${obstacle}`;
}

/** Description of a worker's end, as text after "the worker". */
const describeEnd = ({ reason }: LocalWorker, end: ProcessEnd): string =>
  reason === undefined ? end.description : `was stopped by the service because it ${reason}`;

/** The first line of an error: "TypeError: …", "Error [CODE]: …", "ModuleNotFoundError: …", "requests.exceptions.Timeout: …". */
const errorLine = /^(?:Uncaught )?(?:[\w.]*(?:Error|Exception)|[\w.]+\.exceptions\.\w+)(?: \[\w+\])?(?::|$)/;

/** The first error in a worker's output, then its last lines, as the end of a sentence; empty without output. */
function lastOutputText({ worker: { redact } }: LocalWorker, { lastErrors }: ProcessEnd): string {
  if (lastErrors.length === 0) return "";
  const lines = lastErrors.map(redact);
  const error = lines.find((line) => errorLine.test(line));
  return `${error === undefined ? "" : `: ${error}`}; its last lines:\n${lines.join("\n")}`;
}
