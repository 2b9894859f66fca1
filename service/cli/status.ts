import { systemClock } from "serverless-compute-api/clock";
import { tableText } from "serverless-compute-api/job-commands";
import { endpointHealth } from "serverless-compute-api/shapes";
import { z } from "zod";
import { localPaths } from "../api/local";
import { connect, expectSuccess } from "./connection";
import type { Output } from "./output";

/** Flags of `status`. */
export interface StatusFlags {
  data: string;
  json: boolean;
}

const location = z.object({ node: z.string().optional(), pod: z.string(), phase: z.string() });

/** An endpoint of the response, in the form of the output of `--json`. */
const endpointStatus = endpointHealth
  .unwrap()
  .extend({
    id: z.string(),
    name: z.string(),
    imageName: z.string().default(""),
    /** The template that contains the container; undefined if the container is the endpoint's own. */
    template: z.object({ id: z.string(), name: z.string().optional() }).optional(),
    workersMin: z.number(),
    workersMax: z.number(),
    running: z.array(
      z.object({
        id: z.string(),
        status: z.string(),
        startedAt: z.number().transform((ms) => new Date(ms)),
        location: location.optional(),
      }),
    ),
    /** The reason why jobs wait, or why workers do not start or crash; undefined without one. */
    message: z.string().optional(),
  })
  .transform(({ id, name, imageName, template, workersMin, workersMax, jobs, running, message }) => ({
    id,
    name,
    image: imageName,
    template,
    workersMin,
    workersMax,
    jobs,
    workers: running,
    problem: message,
  }));
type EndpointStatus = z.output<typeof endpointStatus>;

const statusResponse = z.object({ problem: z.string().optional(), endpoints: z.array(endpointStatus) });

/** Prints the endpoints of the running service with their queues and workers. */
export async function printStatus({ data, json }: StatusFlags, output: Output): Promise<void> {
  const { serviceUrl, send } = connect(data);
  const { problem, endpoints } = statusResponse.parse(expectSuccess(await send("GET", localPaths.status)).json);
  output.out(
    json ? JSON.stringify({ url: serviceUrl, problem, endpoints }) : statusText(serviceUrl, problem, endpoints),
  );
}

function statusText(serviceUrl: string, problem: string | undefined, endpoints: EndpointStatus[]): string {
  const rows = endpoints.map(({ id, name, image, template, workers, workersMin, workersMax, jobs }) => [
    id,
    name,
    image,
    template ? `template ${template.name ?? template.id}` : "own",
    workers.length,
    `${workersMin}–${workersMax}`,
    jobs.inQueue,
    jobs.inProgress,
    jobs.completed,
    jobs.failed,
    jobs.retried,
  ]);
  const workerRows = endpoints.flatMap(({ name, workers }) =>
    workers.map(({ id, status, startedAt, location }) => [
      id,
      name,
      status,
      duration(systemClock.now() - startedAt.getTime()),
      ...(location ? [location.pod, location.phase, location.node ?? "–"] : []),
    ]),
  );
  const hasPods = workerRows.some((row) => row.length > 4);
  const workerColumns = ["WORKER", "ENDPOINT", "STATUS", "UP FOR", ...(hasPods ? ["POD", "PHASE", "NODE"] : [])];
  const problems = endpoints.flatMap((endpoint) => {
    const problem = endpoint.problem?.split("\n", 1).join("");
    return problem === undefined ? [] : [[endpoint.name, problem]];
  });
  const jobColumns = ["IN QUEUE", "IN PROGRESS", "COMPLETED", "FAILED", "RETRIED"];
  const parts = [
    `The service runs on ${serviceUrl}.`,
    ...(problem === undefined ? [] : [`It cannot store changes: ${problem}`]),
    rows.length > 0
      ? tableText(["ENDPOINT", "NAME", "IMAGE", "CONTAINER", "WORKERS", "MIN–MAX", ...jobColumns], rows)
      : "There are no endpoints.",
    workerRows.length > 0 ? tableText(workerColumns, workerRows) : "No workers are running.",
  ];
  if (problems.length > 0) parts.push(tableText(["ENDPOINT", "PROBLEM"], problems));
  return parts.join("\n\n");
}

/** A time span with its largest unit. */
function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}
