import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { run } from "../scripts/child.mjs";
import { engineMissing, engineResponds, startEngine } from "../scripts/docker-engine.mjs";
import { importNode, importPython } from "../test/docker/images";
import { stopProcess } from "./processes";
import { sdkPython } from "./sdk-server";
import { startService } from "./service";
import { median } from "./statistics";

/** Duration of an endpoint's first job, including the start of its worker; medians, ms. */
export interface FirstJobRow {
  runtime: "process" | "container";
  worker: string;
  /** From the request of /runsync to its response. */
  wall: number;
  /** Time in the queue according to the job's record, including the worker's start. */
  delay: number;
}

/** Worker to measure: its image, and the command that runs for it as a process. */
interface Subject {
  runtime: FirstJobRow["runtime"];
  worker: string;
  image: string;
  command?: string;
}

const root = join(__dirname, "..");
const response = z.looseObject({ id: z.string() });
const jobRecord = z.looseObject({ status: z.string(), delayTime: z.number() });

/** Images built from programs on this machine. */
const builtImages = ["bench-first-job/node:1", "bench-first-job/python:1"] as const;

/**
 * Measures all subjects several times, interleaved, so that other load affects all equally. Each measurement uses a new
 * endpoint.
 */
async function measureOn(folder: string, subjects: Subject[], rounds: number): Promise<FirstJobRow[]> {
  const images = subjects.flatMap(({ image, command }) => (command ? ["--image", `${image}=${command}`] : []));
  const { child, baseUrl, serverlessUrl, apiKeyFile } = await startService(join(folder, "data"), images);
  try {
    const authorization = `Bearer ${(await readFile(apiKeyFile, "utf8")).trim()}`;
    const headers = { authorization, "content-type": "application/json" };
    const call = async (method: string, url: string, body?: object): Promise<unknown> => {
      const response = await fetch(url, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${url} returned ${response.status} ${text}`);
      return text === "" ? undefined : JSON.parse(text);
    };
    const templates = new Map<Subject, { templateId: string; times: { wall: number; delay: number }[] }>();
    for (const subject of subjects) {
      const { runtime, worker, image: imageName } = subject;
      const template = { name: `${worker} ${runtime}`, imageName, isServerless: true, volumeInGb: 0 };
      const { id: templateId } = response.parse(await call("POST", `${baseUrl}/templates`, template));
      templates.set(subject, { templateId, times: [] });
    }
    for (let round = 0; round < rounds; round++) {
      for (const [{ worker }, { templateId, times }] of templates) {
        const endpoint = { name: `first-${round}`, templateId, workersMin: 0, workersMax: 1 };
        const { id } = response.parse(await call("POST", `${baseUrl}/endpoints`, endpoint));
        const startTime = performance.now();
        const job = jobRecord.parse(await call("POST", `${serverlessUrl}/v2/${id}/runsync`, { input: { do: "echo" } }));
        const wall = performance.now() - startTime;
        if (job.status !== "COMPLETED") throw new Error(`the first job of ${worker} is ${JSON.stringify(job)}`);
        times.push({ wall, delay: job.delayTime });
        await call("DELETE", `${baseUrl}/endpoints/${id}`);
      }
    }
    return [...templates].map(([{ runtime, worker }, { times }]) => {
      const medianOf = (property: "wall" | "delay"): number => median(times.map((time) => time[property]));
      return { runtime, worker, wall: medianOf("wall"), delay: medianOf("delay") };
    });
  } finally {
    await stopProcess(child);
  }
}

/**
 * Measures workers as processes and, with a Docker Engine, in containers of the same programs. `withSdk` includes
 * workers of the Python SDK.
 */
export async function measureFirstJob(rounds: number, withSdk: boolean): Promise<FirstJobRow[]> {
  const folder = await mkdtemp(join(tmpdir(), "bench-first-job-"));
  const missing = engineMissing();
  if (missing !== undefined) console.error(`No containers are measured: ${missing}`);
  const engine = missing !== undefined || engineResponds() ? undefined : await startEngine();
  const previousHost = process.env["DOCKER_HOST"];
  if (engine) process.env["DOCKER_HOST"] = engine.host;
  const hosts = missing === undefined ? [engine?.host ?? previousHost ?? "unix:///var/run/docker.sock"] : [];
  try {
    await cp(join(root, "test", "docker", "programs", "worker.mjs"), join(folder, "worker.mjs"));
    await cp(join(root, "examples", "quickstart", "handler.mjs"), join(folder, "quickstart.mjs"));
    const node = { worker: "Node, over HTTP", image: builtImages[0] };
    const python = { worker: "public Python SDK", image: builtImages[1] };
    const file = { worker: "handler file", image: "bench/file:1", command: join(root, "bench", "echo.mjs") };
    const command = `"${process.execPath}" "${join(folder, "worker.mjs")}"`;
    const processes: Subject[] = [
      { runtime: "process", ...file },
      { runtime: "process", ...node, image: "bench/node:1", command },
    ];
    const containers: Subject[] = hosts.map(() => ({ runtime: "container", ...node }));
    for (const host of hosts) await importNode(host, node.image);
    if (withSdk) {
      const executable = await sdkPython();
      const line = `"${executable}" -u "${join(root, "test", "sdk", "handlers", "plain.py")}"`;
      processes.push({ runtime: "process", ...python, image: "bench/python:1", command: line });
      for (const host of hosts) {
        await importPython(host, python.image, executable);
        containers.push({ runtime: "container", ...python });
      }
    }
    return await measureOn(folder, [...processes, ...containers], rounds);
  } finally {
    // Removes the images from an engine that was already running.
    if (!engine) for (const host of hosts) await run("docker", ["--host", host, "rmi", "--force", ...builtImages]);
    await engine?.stop();
    if (previousHost === undefined) delete process.env["DOCKER_HOST"];
    else process.env["DOCKER_HOST"] = previousHost;
    await rm(folder, { recursive: true, force: true });
  }
}
