import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import { call } from "./client";

const root = join(__dirname, "..");
const image = "bench/echo:1";
const started = z.object({ baseUrl: z.string(), serverlessUrl: z.string(), apiKeyFile: z.string(), pid: z.number() });

/** The built service as a process of its own, with endpoints whose workers echo. */
export interface MeasuredService {
  serverlessUrl: string;
  apiKey: string;
  endpointIds: string[];
  /** Resident memory of the service's process, MiB; workers are processes of their own. */
  residentMemory(): Promise<number>;
  /** Sum of a number of /health over the endpoints. */
  count(name: "completed" | "failed" | "inQueue" | "inProgress" | "retried"): Promise<number>;
  stop(): Promise<void>;
}

async function addresses(child: ChildProcess) {
  if (!child.stdout) throw new Error("the service has no stdout");
  const line = once(createInterface(child.stdout), "line");
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the service ended with ${code} before it was ready: is it built? npm run build`);
  });
  const [text] = await Promise.race([line, ended]);
  return started.parse(JSON.parse(String(text)));
}

export async function startMeasuredService(endpoints: number): Promise<MeasuredService> {
  const folder = await mkdtemp(join(tmpdir(), "bench-"));
  const program = join(root, "service", "bin", "serverless-compute-local.js");
  const handler = join(root, "bench", "echo.mjs");
  const args = [program, "start", "--json", "--port", "0", "--data", folder, "--image", `${image}=${handler}`];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  const { baseUrl, serverlessUrl, apiKeyFile, pid } = await addresses(child);
  const apiKey = (await readFile(apiKeyFile, "utf8")).trim();
  const make = async (path: string, body: object): Promise<string> => {
    const { status, text } = await call("POST", `${baseUrl}${path}`, apiKey, JSON.stringify(body));
    if (status !== 200) throw new Error(`POST ${path} answered ${status} ${text}`);
    return z.object({ id: z.string() }).parse(JSON.parse(text)).id;
  };
  const sizes = { isServerless: true, volumeInGb: 0, containerDiskInGb: 5 };
  const templateId = await make("/templates", { name: "echo", imageName: image, ...sizes });
  const endpointIds: string[] = [];
  for (let at = 0; at < endpoints; at++)
    endpointIds.push(await make("/endpoints", { name: `echo-${at}`, templateId, workersMin: 1, workersMax: 1 }));

  const health = z.object({ jobs: z.record(z.string(), z.number()) });
  return {
    ...{ serverlessUrl, apiKey, endpointIds },
    async residentMemory() {
      const kilobytes = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1];
      return Number(kilobytes) / 1024;
    },
    async count(name) {
      const answers = await Promise.all(
        endpointIds.map((id) => call("GET", `${serverlessUrl}/v2/${id}/health`, apiKey)),
      );
      return answers.reduce((sum, { text }) => sum + (health.parse(JSON.parse(text)).jobs[name] ?? 0), 0);
    },
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
