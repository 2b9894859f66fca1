import { systemClock } from "serverless-compute-api/clock";
import { endpointHealth } from "serverless-compute-api/shapes";
import { z } from "zod";
import { roots } from "../api/responses";
import { connect, expectSuccess } from "./connection";
import { type Output, tableText } from "./output";

/** Flags of `status`. */
export interface StatusFlags {
  data: string;
  /** True to print JSON. */
  json: boolean;
}

const endpointList = z.array(
  z.looseObject({
    id: z.string(),
    name: z.string(),
    workersMin: z.number(),
    workersMax: z.number(),
    template: z.looseObject({ imageName: z.string() }).optional(),
    workers: z.array(z.looseObject({ id: z.string(), status: z.string(), startedAt: z.coerce.date() })),
  }),
);

/** How long the service may take to respond, ms. */
const responseLimit = 10_000;

/** An endpoint as `--json` prints it. */
interface EndpointStatus {
  id: string;
  name: string;
  image: string;
  workersMin: number;
  workersMax: number;
  jobs: { inQueue: number; inProgress: number; completed: number; failed: number; retried: number };
  /** `startedAt` in ISO 8601. */
  workers: { id: string; status: string; startedAt: Date }[];
  /** Why no worker comes up; undefined if the workers are in order. */
  problem: string | undefined;
}

/** Prints the endpoints of the running service with their queues and workers, as its API reports them. */
export async function printStatus({ data, json }: StatusFlags, output: Output): Promise<void> {
  const { serviceUrl, send } = connect(data, responseLimit);
  const list = await send("GET", `${roots.rest}/endpoints?includeTemplate=true&includeWorkers=true`);
  const endpoints: EndpointStatus[] = [];
  for (const { id, name, template, workers, workersMin, workersMax } of endpointList.parse(expectSuccess(list).json)) {
    const health = await send("GET", `${roots.jobs}/${id}/health`);
    // It may have been deleted meanwhile.
    if (health.status === 404) continue;
    const { jobs, message } = endpointHealth.parse(expectSuccess(health).json);
    const { inQueue, inProgress, completed, failed, retried } = jobs;
    endpoints.push({
      ...{ id, name, image: template?.imageName ?? "", workersMin, workersMax },
      jobs: { inQueue, inProgress, completed, failed, retried },
      workers: workers.map((worker) => ({ id: worker.id, status: worker.status, startedAt: worker.startedAt })),
      problem: typeof message === "string" ? message : undefined,
    });
  }
  output.out(json ? JSON.stringify({ url: serviceUrl, endpoints }) : statusText(serviceUrl, endpoints));
}

function statusText(serviceUrl: string, endpoints: EndpointStatus[]): string {
  const rows = endpoints.map(({ id, name, image, workers, workersMin, workersMax, jobs }) => [
    ...[id, name, image, workers.length, `${workersMin}–${workersMax}`],
    ...[jobs.inQueue, jobs.inProgress, jobs.completed, jobs.failed, jobs.retried],
  ]);
  const running = endpoints.flatMap(({ name, workers }) =>
    workers.map(({ id, status, startedAt }) => [id, name, status, duration(systemClock.now() - startedAt.getTime())]),
  );
  const problems = endpoints.flatMap(({ name, problem }) =>
    problem === undefined ? [] : [[name, problem.split("\n", 1).join("")]],
  );
  const jobHead = ["IN QUEUE", "IN PROGRESS", "COMPLETED", "FAILED", "RETRIED"];
  const parts = [
    `The service runs on ${serviceUrl}.`,
    rows.length > 0
      ? tableText(["ENDPOINT", "NAME", "IMAGE", "WORKERS", "OF", ...jobHead], rows)
      : "There are no endpoints.",
    running.length > 0 ? tableText(["WORKER", "OF ENDPOINT", "STATUS", "UP FOR"], running) : "No workers are running.",
  ];
  if (problems.length > 0) parts.push(tableText(["ENDPOINT", "WHAT IS WRONG WITH ITS WORKERS"], problems));
  return parts.join("\n\n");
}

/** A time span with its largest unit. */
function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}
