import type { SteadyClock } from "../steady-clock";
import type { ServiceTimings } from "../timings";
import type { WorkerRegistry } from "./registry";
import type { ProcessEnd } from "./runtimes/runtime";
import { isManaged, type ManagedWorker } from "./worker";
import { phaseOf, waitingOf } from "./worker-record";

export type WorkerProblems = ReturnType<typeof createWorkerProblems>;

/** The reasons why workers of endpoints do not run jobs, for `/health`, `status` and the console. */
export function createWorkerProblems({
  registry,
  clock,
  timings,
}: {
  registry: Pick<WorkerRegistry, "byEndpoint">;
  clock: SteadyClock;
  timings: Pick<ServiceTimings, "takeSilence">;
}) {
  const startProblems = new Map<string, string>();
  const crashProblems = new Map<string, string>();

  /** The problem of a worker that has not requested a job for a long time after its start. */
  function silentWorkerProblem(workers: ManagedWorker[]): string | undefined {
    const now = clock.now();
    const worker = workers.find(
      (candidate) => candidate.stage !== "ready" && phaseOf(candidate, now, timings) === "unhealthy",
    );
    if (!worker) return undefined;
    const { id, image, mode, failedCheck } = worker;
    const seconds = Math.round((now - worker.startedAt) / 1000);
    if (mode === "http")
      return `workers of the image "${image}" are not healthy: ${id} has run for ${seconds} s${failedCheck === undefined ? "" : `; ${failedCheck}`}; its program must return 200 to health checks${obstacleText(worker)}`;
    return `workers of the image "${image}" do not request jobs: ${id} has run for ${seconds} s; its program must take jobs, as the SDK's serverless.start does${obstacleText(worker)}`;
  }

  /** The reason why a worker that has not sent a call yet does not run jobs. */
  const waitingProblem = (workers: ManagedWorker[]): string | undefined =>
    workers
      .filter(({ stage, hasPinged }) => stage !== "ready" && !hasPinged)
      .map((worker) => waitingOf(worker)?.reason)
      .find((reason) => reason !== undefined);

  return {
    /** Records that no worker can be started. */
    recordStartError: (endpointId: string, problem: string): void => void startProblems.set(endpointId, problem),
    /** Records that a worker ended before its first job-take. Returns the reason, for the waiting jobs. */
    recordFailedStart(worker: ManagedWorker, end: ProcessEnd): string {
      const obstacle = worker.endReason === undefined ? "" : obstacleText(worker);
      // If the image cannot be pulled, no program ever ran.
      const expectedEvent = worker.mode === "http" ? "was healthy" : "requested a job";
      const timing = worker.stage === "preparing" ? "" : `, before it ${expectedEvent}`;
      const { startError, image } = worker;
      const cause = startError === undefined ? timing : `, because ${startError}`;
      const endText = `${describeEnd(worker, end)}${cause}`;
      const problem = `workers of the image "${image}" do not start: the last one ${endText}${obstacle}${lastOutputText(worker, end)}`;
      startProblems.set(worker.endpointId, problem);
      return problem;
    },
    /** Records that a worker ended while it ran a job; `crashed` unless the service ended it. Returns a description, for the job. */
    recordLostJob(worker: ManagedWorker, end: ProcessEnd, crashed: boolean): string {
      const [endText, lastOutput] = [describeEnd(worker, end), lastOutputText(worker, end)];
      const problem = `workers of the image "${worker.image}" crash: the last one ${endText} while it ran a job${lastOutput}`;
      if (crashed) crashProblems.set(worker.endpointId, problem);
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
    /** The reason why the endpoint's workers do not start, or why the last worker crashed; undefined without a problem. */
    of(endpointId: string): string | undefined {
      const workers = registry.byEndpoint(endpointId).filter(isManaged);
      return (
        silentWorkerProblem(workers) ??
        waitingProblem(workers) ??
        startProblems.get(endpointId) ??
        crashProblems.get(endpointId)
      );
    },
  };
}

/** A possible obstacle between a worker and the service, as the end of a sentence; empty if the worker has sent a ping. */
function obstacleText({ hasPinged, process }: ManagedWorker): string {
  const obstacle = hasPinged ? undefined : process.obstacle?.();
  return obstacle === undefined ? "" : `; ${obstacle}`;
}

/** Description of a worker's end, as text after "the worker". */
const describeEnd = ({ endReason }: ManagedWorker, end: ProcessEnd): string =>
  endReason === undefined ? end.description : `was stopped by the service because it ${endReason}`;

/** The first line of an error: "TypeError: …", "Error [CODE]: …", "ModuleNotFoundError: …", "requests.exceptions.Timeout: …". */
const errorLine = /^(?:Uncaught )?(?:[\w.]*(?:Error|Exception)|[\w.]+\.exceptions\.\w+)(?: \[\w+\])?(?::|$)/;

/** The first error in a worker's output as the end of a sentence, then its last lines; empty without output. Many readers show one line. */
function lastOutputText({ redact }: ManagedWorker, { lastErrors }: ProcessEnd): string {
  if (lastErrors.length === 0) return "";
  const lines = lastErrors.map(redact);
  const error = lines.find((line) => errorLine.test(line));
  return `${error === undefined ? "" : `: ${error}`}\nIts last lines:\n${lines.join("\n")}`;
}
