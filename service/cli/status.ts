import { systemClock } from "serverless-compute-api/clock";
import { endpointHealth } from "serverless-compute-api/shapes";
import { z } from "zod";
import { roots } from "../api/responses";
import { apiKeyFileOf, readApiKey } from "../api-key";
import { StartError } from "../errors";
import { type Output, tableText } from "./output";

/** Flags of `status`. */
export interface StatusFlags {
  data: string;
  port: number;
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

/** Prints the endpoints of the running service with their queues and workers, as its API reports them. */
export async function printStatus({ data, port }: StatusFlags, output: Output): Promise<void> {
  const root = `http://127.0.0.1:${port}`;
  const key = readApiKey(data);
  if (key === undefined)
    throw new StartError(`no service has used ${data} yet; start one, or pass its folder with --data`);
  const read = createReader(root, key, data);
  const answer = endpointList.safeParse(await read(`${roots.rest}/endpoints?includeTemplate=true&includeWorkers=true`));
  if (!answer.success)
    throw new StartError(`what runs on ${root} is not a local service; pass the service's port with --port`);
  const endpoints = answer.data;
  const rows: (string | number)[][] = [];
  const problems: string[][] = [];
  for (const { id, name, template, workers, workersMin, workersMax } of endpoints) {
    const health = await read(`${roots.jobs}/${id}/health`);
    // It may have been deleted meanwhile.
    if (health === undefined) continue;
    const { jobs, message } = endpointHealth.parse(health);
    if (typeof message === "string") problems.push([name, message.split("\n", 1).join("")]);
    rows.push([
      ...[id, name, template?.imageName ?? "", workers.length, `${workersMin}–${workersMax}`],
      ...[jobs.inQueue, jobs.inProgress, jobs.completed, jobs.failed, jobs.retried],
    ]);
  }
  const running = endpoints.flatMap(({ name, workers }) =>
    workers.map(({ id, status, startedAt }) => [id, name, status, duration(systemClock.now() - startedAt.getTime())]),
  );
  const jobHead = ["IN QUEUE", "IN PROGRESS", "COMPLETED", "FAILED", "RETRIED"];
  const parts = [
    `The service runs on ${root}.`,
    rows.length > 0
      ? tableText(["ENDPOINT", "NAME", "IMAGE", "WORKERS", "OF", ...jobHead], rows)
      : "There are no endpoints.",
    running.length > 0 ? tableText(["WORKER", "OF ENDPOINT", "STATUS", "UP FOR"], running) : "No workers are running.",
  ];
  if (problems.length > 0) parts.push(tableText(["ENDPOINT", "WHAT IS WRONG WITH ITS WORKERS"], problems));
  output.out(parts.join("\n\n"));
}

/** A time span with its largest unit. */
function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}

/** Returns a function that reads a path of the service's API as JSON; undefined for an endpoint that does not exist. */
function createReader(root: string, key: string, data: string) {
  return async (path: string): Promise<unknown> => {
    const answer = await fetch(root + path, {
      headers: { authorization: `Bearer ${key}` },
      redirect: "manual",
      signal: AbortSignal.timeout(responseLimit),
    }).catch((error: unknown) => {
      const slow = error instanceof Error && error.name === "TimeoutError";
      throw new StartError(
        slow
          ? `the service on ${root} did not respond within ${responseLimit / 1000} s`
          : `no service is running on ${root}; start one, or pass its port with --port`,
      );
    });
    if (answer.status === 404 && path.startsWith(roots.jobs)) return undefined;
    if (answer.status === 401) {
      throw new StartError(
        `the service on ${root} rejects the key in ${apiKeyFileOf(data)}; pass that service's folder with --data, or another port with --port`,
      );
    }
    if (answer.status === 503) throw new StartError(`the service on ${root} is stopping`);
    const body: unknown = await answer.json().catch(() => undefined);
    if (answer.status === 200 && body !== undefined) return body;
    throw new StartError(
      `what runs on ${root} is not a local service, ${path} returned ${answer.status}; pass the service's port with --port`,
    );
  };
}
