import { runLoad } from "./load";
import { residentMemory } from "./processes";
import { onService } from "./service";

/** Resident memory of the service while finished jobs are kept for /status, MiB. */
export interface MemoryRow {
  retained: number;
  memory: number;
}

const body = JSON.stringify({ input: { prompt: "ping" } });

/** Runs jobs in equal parts within the 30 minutes of retention, and reads the memory after each part. */
export async function measureMemory(parts: number, jobsPerPart: number): Promise<MemoryRow[]> {
  return onService({ workersPerEndpoint: 2 }, async (service) => {
    const requests = [{ method: "POST" as const, path: `/v2/${service.endpointIds[0]}/run`, body }];
    const rows: MemoryRow[] = [{ retained: 0, memory: await residentMemory(service.pid) }];
    for (let part = 1; part <= parts; part++) {
      const { serverlessUrl: url, headers } = service;
      await runLoad({ url, headers, connections: 32, requests, for: { requests: jobsPerPart } });
      await service.drained();
      const retained = await service.count("completed");
      if (retained !== part * jobsPerPart)
        throw new Error(`memory: ${retained} of ${part * jobsPerPart} jobs completed`);
      rows.push({ retained, memory: await residentMemory(service.pid) });
    }
    return rows;
  });
}
