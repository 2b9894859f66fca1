import type { ServiceTimings } from "../timings";
import type { WorkerGroup } from "./registry";
import type { ProcessEnd } from "./runtimes/runtime";
import { isManaged, type ManagedWorker } from "./worker";
import { phaseOf, waitingOf } from "./worker-record";

/** The reason why an endpoint's workers do not run jobs or why the last one crashed, for `/health`, `status` and the console. */
export function problemOf(
  { workers, startProblem, crashProblem }: Pick<WorkerGroup, "workers" | "startProblem" | "crashProblem">,
  now: number,
  timings: Pick<ServiceTimings, "takeSilence">,
): string | undefined {
  const unready = [...workers.values()].filter(isManaged).filter(({ stage }) => stage !== "ready");
  return silentWorkerProblem(unready, now, timings) ?? waitingProblem(unready) ?? startProblem ?? crashProblem;
}

/** The problem of a worker that has not requested a job for a long time after its start. */
function silentWorkerProblem(
  unready: ManagedWorker[],
  now: number,
  timings: Pick<ServiceTimings, "takeSilence">,
): string | undefined {
  const worker = unready.find((candidate) => phaseOf(candidate, now, timings) === "unhealthy");
  if (!worker) return undefined;
  const { id, image, mode, failedCheck } = worker;
  const seconds = Math.round((now - worker.startedAt) / 1000);
  if (mode === "http")
    return `workers of the image "${image}" are not healthy: ${id} has run for ${seconds} s${failedCheck === undefined ? "" : `; ${failedCheck}`}; its program must return 200 to health checks${obstacleText(worker)}`;
  return `workers of the image "${image}" do not request jobs: ${id} has run for ${seconds} s; its program must take jobs, as the SDK's serverless.start does${obstacleText(worker)}`;
}

/** The reason why a worker that has not sent a call yet does not run jobs. */
const waitingProblem = (unready: ManagedWorker[]): string | undefined =>
  unready
    .filter(({ hasPinged }) => !hasPinged)
    .map((worker) => waitingOf(worker)?.reason)
    .find((reason) => reason !== undefined);

/** The problem of a worker that ended before its first job-take, also for the waiting jobs. */
export function startProblemOf(worker: ManagedWorker, end: ProcessEnd): string {
  const obstacle = worker.endReason === undefined ? "" : obstacleText(worker);
  // If the image cannot be pulled, no program ever ran.
  const expectedEvent = worker.mode === "http" ? "was healthy" : "requested a job";
  const timing = worker.stage === "preparing" ? "" : `, before it ${expectedEvent}`;
  const { startError, image } = worker;
  const cause = startError === undefined ? timing : `, because ${startError}`;
  return `workers of the image "${image}" do not start: the last one ${describeEnd(worker, end)}${cause}${obstacle}${lastOutputText(worker, end)}`;
}

/** The problem of a worker that crashed while it ran a job. */
export const crashProblemOf = (worker: ManagedWorker, end: ProcessEnd): string =>
  `workers of the image "${worker.image}" crash: the last one ${describeEnd(worker, end)} while it ran a job${lastOutputText(worker, end)}`;

/** The error of a job whose worker ended. */
export const lostJobError = (worker: ManagedWorker, end: ProcessEnd): string =>
  `the worker ${describeEnd(worker, end)} while it ran the job${lastOutputText(worker, end)}`;

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
