import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { RateLimits } from "./api/rate-limits";
import type { Jobs } from "./jobs/jobs";
import type { EndpointLookup } from "./resources/endpoint-lookup";
import type { Containers } from "./workers/containers/containers";
import type { WorkerLogs } from "./workers/logs";
import type { WorkerPool } from "./workers/pool";
import type { WorkerTokens } from "./workers/tokens";

/** What an endpoint may leave on the job path, and how it is taken away. */
export function createEndpointRemoval(deps: {
  tokens: Pick<WorkerTokens, "forget">;
  jobs: Pick<Jobs, "forget">;
  rateLimits: Pick<RateLimits, "forget">;
  pool: Pick<WorkerPool, "drop">;
  logs: Pick<WorkerLogs, "remove">;
  containers: Pick<Containers, "removeVolume" | "tidy">;
  endpoints: Pick<EndpointLookup, "images">;
  /** The folder of the homes of workers. */
  homes: string;
  log: Pick<Logger, "warn" | "error">;
}) {
  const { tokens, jobs, rateLimits, pool, logs, containers, endpoints, homes, log } = deps;
  const underWay = new Set<Promise<void>>();
  const soon = (work: Promise<void>): void => {
    const done: Promise<void> = work.finally(() => underWay.delete(done));
    underWay.add(done);
  };

  /** Takes away everything that an endpoint left. */
  async function remove(endpointId: string): Promise<void> {
    tokens.forget(endpointId);
    await jobs.forget(endpointId);
    rateLimits.forget(endpointId);
    await pool.drop(endpointId);
    await logs.remove(endpointId);
    await rm(join(homes, endpointId), { recursive: true, force: true });
    await tidy();
  }

  /** Removes pulled images that are no longer used. */
  async function tidy(): Promise<void> {
    await containers
      .tidy(endpoints.images())
      .catch((error: unknown) => log.warn({ err: error }, "a pulled image is left over"));
  }

  return {
    remove,
    /** The same in the background; what fails is logged. */
    removeSoon: (endpointId: string): void =>
      soon(
        remove(endpointId).catch((error: unknown) =>
          log.error({ err: error, endpoint: endpointId }, "an endpoint left something behind"),
        ),
      ),
    tidy,
    /** Deletes the folder of a deleted volume in the background; a failure is logged. */
    removeVolumeSoon: (volumeId: string): void =>
      soon(
        containers
          .removeVolume(volumeId)
          .catch((error: unknown) => log.warn({ err: error, volume: volumeId }, "a volume's folder is left over")),
      ),
    /** Resolves when nothing is under way in the background. */
    settled: (): Promise<unknown> => Promise.all(underWay),
  };
}
