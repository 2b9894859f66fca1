import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { residentMemory } from "./processes";
import { ended, startService } from "./service";
import { median } from "./statistics";

/** Starting the service in an empty folder; medians. */
export interface ColdStart {
  /** From the start of the process to its addresses on stdout, ms. */
  addresses: number;
  /** To the first response of the REST API, ms. */
  firstResponse: number;
  /** Resident memory a second later, idle, MiB. */
  idleMemory: number;
}

async function startOnce(): Promise<ColdStart> {
  const folder = await mkdtemp(join(tmpdir(), "bench-start-"));
  try {
    const began = performance.now();
    const { child, baseUrl, apiKeyFile, pid } = await startService(folder);
    const addresses = performance.now() - began;
    const authorization = `Bearer ${(await readFile(apiKeyFile, "utf8")).trim()}`;
    const response = await fetch(`${baseUrl}/endpoints`, { headers: { authorization } });
    if (response.status !== 200) throw new Error(`cold start: GET /endpoints returned ${response.status}`);
    const firstResponse = performance.now() - began;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const idleMemory = await residentMemory(pid);
    await ended(child);
    return { addresses, firstResponse, idleMemory };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts the service several times, one after the other. */
export async function measureColdStart(rounds: number): Promise<ColdStart> {
  const all: ColdStart[] = [];
  for (let round = 0; round < rounds; round++) all.push(await startOnce());
  const middle = (read: (one: ColdStart) => number): number => median(all.map(read));
  return {
    addresses: middle(({ addresses }) => addresses),
    firstResponse: middle(({ firstResponse }) => firstResponse),
    idleMemory: middle(({ idleMemory }) => idleMemory),
  };
}
