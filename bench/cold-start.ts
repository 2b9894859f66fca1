import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { residentMemory, stopProcess } from "./processes";
import { startService } from "./service";
import { median } from "./statistics";

/** Starting the service in an empty folder; medians. */
export interface ColdStart {
  /** From the start of the process to its addresses on stdout, ms. */
  addresses: number;
  /** From the start of the process to the first response of the REST API, ms. */
  firstResponse: number;
  /** Resident memory a second after that, MiB. */
  memory: number;
  /**
   * Resident memory after `idle` seconds without a request, MiB. Node releases memory after a while without activity.
   */
  idleMemory: number;
}

const pause = (seconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

async function startOnce(idle: number): Promise<ColdStart> {
  const folder = await mkdtemp(join(tmpdir(), "bench-start-"));
  try {
    const startTime = performance.now();
    const { child, baseUrl, apiKeyFile, pid } = await startService(folder);
    const addresses = performance.now() - startTime;
    const authorization = `Bearer ${(await readFile(apiKeyFile, "utf8")).trim()}`;
    const response = await fetch(`${baseUrl}/endpoints`, { headers: { authorization } });
    if (response.status !== 200) throw new Error(`cold start: GET /endpoints returned ${response.status}`);
    const firstResponse = performance.now() - startTime;
    await pause(1);
    const memory = await residentMemory(pid);
    await pause(idle);
    const idleMemory = await residentMemory(pid);
    await stopProcess(child);
    return { addresses, firstResponse, memory, idleMemory };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts the service several times in sequence. The last instance stays idle for `idle` seconds. */
export async function measureColdStart(rounds: number, idle: number): Promise<ColdStart> {
  const results: ColdStart[] = [];
  for (let round = 1; round <= rounds; round++) results.push(await startOnce(round === rounds ? idle : 0));
  const medianOf = (read: (result: ColdStart) => number): number => median(results.map(read));
  return {
    addresses: medianOf(({ addresses }) => addresses),
    firstResponse: medianOf(({ firstResponse }) => firstResponse),
    memory: medianOf(({ memory }) => memory),
    idleMemory: results.at(-1)?.idleMemory ?? Number.NaN,
  };
}
