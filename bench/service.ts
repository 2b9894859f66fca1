import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import { stopProcess } from "./processes";
import { sdkEnvironment, sdkPython } from "./sdk-server";

const root = join(__dirname, "..");
/** The built command line of the service. */
export const serviceProgram = join(root, "service", "bin", "serverless-compute-local.js");
const started = z.object({
  url: z.string(),
  baseUrl: z.string(),
  serverlessUrl: z.string(),
  apiKeyFile: z.string(),
  pid: z.number(),
});
const health = z.object({ jobs: z.record(z.string(), z.number()), workers: z.record(z.string(), z.number()) });

/** Workers that run the jobs: the service's Node worker, the public Python SDK's worker, or none. */
export type WorkerKind = "local" | "sdk" | "none";

/** Options of a measured service. */
export interface MeasuredOptions {
  endpoints?: number;
  workers?: WorkerKind;
  /** Workers of each endpoint. */
  workersPerEndpoint?: number;
  rateLimits?: "on" | "off";
  /** An existing data folder; the caller removes it. */
  folder?: string;
}

/** The built service as a child process, with endpoints whose workers return their input. */
export interface MeasuredService {
  baseUrl: string;
  serverlessUrl: string;
  apiKey: string;
  pid: number;
  folder: string;
  endpointIds: string[];
  headers: Record<string, string>;
  /** Sum of one /health count over the endpoints. */
  count(name: "completed" | "failed" | "inQueue" | "inProgress" | "retried"): Promise<number>;
  /** Waits until no job is queued or running; returns the elapsed seconds. */
  drained(): Promise<number>;
  /** Purges the queued jobs. */
  purge(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the service's command line and waits for its addresses. */
export async function startService(folder: string, flags: string[] = []) {
  const args = ["start", "--json", "--port", "0", "--data", folder, ...flags];
  // Started through its shebang line, as users run it.
  const child = spawn(serviceProgram, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...sdkEnvironment },
  });
  return { child, ...(await addresses(child)) };
}

async function addresses(child: ChildProcess) {
  if (!child.stdout) throw new Error("the service has no stdout");
  const line = once(createInterface(child.stdout), "line");
  const exit = once(child, "exit").then(([code]) => {
    throw new Error(`the service ended with ${code} before it was ready: is it built? npm run build`);
  });
  const [text] = await Promise.race([line, exit]);
  return started.parse(JSON.parse(String(text)));
}

async function imageOf(workers: WorkerKind): Promise<string> {
  if (workers === "sdk") return `"${await sdkPython()}" -u "${join(root, "bench", "sdk-handler.py")}"`;
  return join(root, "bench", "echo.mjs");
}

export async function startMeasuredService(options: MeasuredOptions = {}): Promise<MeasuredService> {
  const { endpoints = 1, workers = "local", workersPerEndpoint = 1, rateLimits = "off" } = options;
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), "bench-")));
  const image = "bench/echo:1";
  const flags = ["--image", `${image}=${await imageOf(workers)}`, "--rate-limits", rateLimits];
  const { child, baseUrl, serverlessUrl, apiKeyFile, pid } = await startService(folder, flags);
  const apiKey = (await readFile(apiKeyFile, "utf8")).trim();
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };

  const createObject = async (path: string, body: object): Promise<string> => {
    const response = await fetch(`${baseUrl}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`POST ${path} returned ${response.status} ${text}`);
    return z.object({ id: z.string() }).parse(JSON.parse(text)).id;
  };
  const sizes = { isServerless: true, volumeInGb: 0, containerDiskInGb: 5 };
  const templateId = await createObject("/templates", { name: `echo-${Date.now()}`, imageName: image, ...sizes });
  const count = workers === "none" ? 0 : workersPerEndpoint;
  const scaling = { templateId, workersMin: count, workersMax: count };
  const endpointIds: string[] = [];
  for (let position = 0; position < endpoints; position++)
    endpointIds.push(await createObject("/endpoints", { name: `echo-${position}`, ...scaling }));
  const healthOf = async (id: string) =>
    health.parse(await (await fetch(`${serverlessUrl}/v2/${id}/health`, { headers })).json());
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  // The loads exclude the start of the workers.
  for (const id of endpointIds) while (((await healthOf(id)).workers["idle"] ?? 0) < count) await pause(50);

  const service: MeasuredService = {
    baseUrl,
    serverlessUrl,
    apiKey,
    pid,
    folder,
    endpointIds,
    headers,
    async count(name) {
      const healthCounts = await Promise.all(endpointIds.map(healthOf));
      return healthCounts.reduce((sum, { jobs }) => sum + (jobs[name] ?? 0), 0);
    },
    async drained() {
      const startTime = performance.now();
      while ((await service.count("inQueue")) + (await service.count("inProgress")) > 0) await pause(50);
      return (performance.now() - startTime) / 1000;
    },
    async purge() {
      for (const id of endpointIds) {
        const { status } = await fetch(`${serverlessUrl}/v2/${id}/purge-queue`, { method: "POST", headers });
        if (status !== 200) throw new Error(`POST /purge-queue returned ${status}`);
      }
    },
    async stop() {
      await stopProcess(child);
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
  return service;
}

/** Runs a callback with a new service. */
export async function onService<Result>(
  options: MeasuredOptions,
  work: (service: MeasuredService) => Promise<Result>,
): Promise<Result> {
  const service = await startMeasuredService(options);
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}
