import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { runLoad } from "./load";
import { residentMemory, stopProcess } from "./processes";
import { type MeasuredService, onService, serviceProgram, startService } from "./service";
import { median } from "./statistics";

/** Cost of submitting and taking jobs with a queue of this length. */
export interface QueueRow {
  queued: number;
  /** Jobs that /run accepts per second at this length, 64 clients. */
  submittedPerSecond: number;
  /** Median time of a job-take by an external worker, ms. */
  takeTime: number;
  /** Resident memory of the service, MiB. */
  memory: number;
}

export interface QueueResult {
  rows: QueueRow[];
  /** Seconds until a service with the longest queue prints its addresses. */
  restart: number;
}

const body = JSON.stringify({ input: { prompt: "ping" } });
/** Jobs per measurement. */
const sample = 1000;

async function submit({ serverlessUrl, headers, endpointIds }: MeasuredService, jobs: number): Promise<number> {
  const requests = [{ method: "POST" as const, path: `/v2/${endpointIds[0]}/run`, body }];
  const load = await runLoad({ url: serverlessUrl, headers, connections: 64, requests, for: { requests: jobs } });
  if (load.answered !== jobs) throw new Error(`queue: ${load.answered} of ${jobs} jobs were accepted`);
  return load.perSecond;
}

/** Takes jobs as an external worker. The jobs stay assigned to it, because it never submits a result. */
async function takeJobs({ serverlessUrl, endpointIds, folder }: MeasuredService, jobs: number): Promise<number> {
  const [endpointId = ""] = endpointIds;
  const { stdout } = await promisify(execFile)(process.execPath, [
    serviceProgram,
    "token",
    endpointId,
    "--data",
    folder,
  ]);
  const times: number[] = [];
  for (let position = 0; position < jobs; position++) {
    const startTime = performance.now();
    const url = `${serverlessUrl}/v2/${endpointId}/job-take/bench-${position}?gpu=0&job_in_progress=0`;
    const response = await fetch(url, { headers: { authorization: stdout.trim() } });
    await response.text();
    if (response.status !== 200) throw new Error(`queue: a take returned ${response.status}`);
    times.push(performance.now() - startTime);
  }
  return median(times);
}

/** Fills one queue to each length in turn, and restarts the service at the longest. */
export async function measureQueue(lengths: number[]): Promise<QueueResult> {
  const folder = await mkdtemp(join(tmpdir(), "bench-queue-"));
  try {
    const rows = await onService({ workers: "none", folder }, async (service) => {
      const recovered: QueueRow[] = [];
      let queued = 0;
      for (const length of lengths) {
        if (length > queued + sample) await submit(service, length - queued - sample);
        const submittedPerSecond = await submit(service, sample);
        queued = length;
        const takeTime = await takeJobs(service, 50);
        recovered.push({ queued, submittedPerSecond, takeTime, memory: await residentMemory(service.pid) });
      }
      return recovered;
    });
    const startTime = performance.now();
    const { child } = await startService(folder);
    const restart = (performance.now() - startTime) / 1000;
    await stopProcess(child);
    return { rows, restart };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
