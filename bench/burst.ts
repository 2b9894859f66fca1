import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { stopProcess } from "./processes";
import { type MeasuredService, onService } from "./service";
import { percentile } from "./statistics";

/** Concurrent load of ten endpoints at the interface's limits: 200 connections and 1,000 requests each. */
export interface BurstRow {
  by: "the service" | "a bare node:http server";
  sent: number;
  accepted: number;
  throttled: number;
  /** Other responses. */
  errors: number;
  acceptedPerSecond: number;
  /** From the connection or the previous response to the response, ms. */
  p50: number;
  p99: number;
  /** Seconds from the last response to the last finished job. */
  drained: number;
}

const body = JSON.stringify({ input: { prompt: "ping" } });
const endpoints = 10;
const limit = { requests: 1000, concurrent: 200 };

interface Response {
  status: number;
  ms: number;
}

/** Opens a connection that sends its next request after each response. A load tool takes 0.4 s to open 2,000 connections. */
function send(port: number, request: string, requests: number): Promise<Response[]> {
  return new Promise((resolve, reject) => {
    const responses: Response[] = [];
    let startTime = performance.now();
    let text = "";
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }).setEncoding("latin1");
    socket.once("error", reject);
    socket.on("data", (part) => {
      text += part;
      const head = text.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
      if (head === -1 || text.length < head + 4 + length) return;
      const now = performance.now();
      responses.push({ status: Number(text.slice(9, 12)), ms: now - startTime });
      text = "";
      startTime = now;
      if (responses.length < requests) socket.write(request);
      else socket.end(() => resolve(responses));
    });
    socket.write(request);
  });
}

async function burst(by: BurstRow["by"], port: number, requests: string[], drained: () => Promise<number>) {
  const startTime = performance.now();
  const requestsPerConnection = limit.requests / limit.concurrent;
  const connections = requests.flatMap((request) => Array.from({ length: limit.concurrent }, () => request));
  const responses = (
    await Promise.all(connections.map((request) => send(port, request, requestsPerConnection)))
  ).flat();
  const seconds = (performance.now() - startTime) / 1000;
  const count = (matches: (status: number) => boolean): number =>
    responses.filter(({ status }) => matches(status)).length;
  const accepted = count((status) => status === 200);
  const throttled = count((status) => status === 429);
  const times = responses.map(({ ms }) => ms);
  return {
    by,
    sent: responses.length,
    accepted,
    throttled,
    errors: responses.length - accepted - throttled,
    acceptedPerSecond: accepted / seconds,
    p50: percentile(times, 50),
    p99: percentile(times, 99),
    drained: await drained(),
  };
}

const requestOf = (path: string, headers: Record<string, string>): string =>
  [
    `POST ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${body.length}\r\n\r\n${body}`,
  ].join("\r\n");

async function measureService({ serverlessUrl, endpointIds, headers, ...service }: MeasuredService): Promise<BurstRow> {
  const port = Number(new URL(serverlessUrl).port);
  const [warmUp = "", ...requests] = endpointIds.map((id) => requestOf(`/v2/${id}/run`, headers));
  // Its limits are exhausted, but the limits of the other endpoints are not.
  await Promise.all(Array.from({ length: 100 }, () => send(port, warmUp, 50)));
  await service.drained();
  const completedBefore = await service.count("completed");
  const row = await burst("the service", port, requests, service.drained);
  const completed = (await service.count("completed")) - completedBefore;
  if (completed !== row.accepted) throw new Error(`burst: ${row.accepted} jobs accepted, ${completed} completed`);
  return row;
}

/** Baseline: the time of the machine and Node for the same requests without processing. */
async function measureBareServer(): Promise<BurstRow> {
  const program = `require("node:http").createServer((request, response) => {
    request.resume().on("end", () => response.end('{"id":"00000000-0000-0000-0000-000000000000","status":"IN_QUEUE"}'));
  }).listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, function () { console.log(this.address().port); });`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [line] = await once(child.stdout, "data");
    const port = Number(String(line));
    const request = requestOf("/", { "content-type": "application/json" });
    await Promise.all(Array.from({ length: 100 }, () => send(port, request, 50)));
    return await burst("a bare node:http server", port, Array(endpoints).fill(request), async () => 0);
  } finally {
    await stopProcess(child);
  }
}

/**
 * Burst of /run within the limits of ten endpoints, compared with a server that does nothing. Every accepted job must
 * complete.
 */
export async function measureBurst(): Promise<BurstRow[]> {
  return [await measureBareServer(), await onService({ endpoints: endpoints + 1, rateLimits: "on" }, measureService)];
}
