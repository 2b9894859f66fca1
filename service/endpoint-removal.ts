import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Clock } from "serverless-compute-api/clock";
import type { RateLimits } from "./api/admission";
import type { Faults } from "./faults/faults";
import type { Jobs } from "./jobs/jobs";
import { storePause } from "./jobs/timings";
import type { EndpointLookup } from "./resources/endpoint-lookup";
import type { Balancer } from "./workers/balancer";
import type { Containers } from "./workers/containers/containers";
import type { WorkerLogs } from "./workers/logs";
import type { WorkerPool } from "./workers/pool";
import type { WorkerTokens } from "./workers/tokens";

/** Removes the remains of deleted endpoints from the job path. */
export function createEndpointRemoval(deps: {
  tokens: Pick<WorkerTokens, "forget">;
  jobs: Pick<Jobs, "forget">;
  rateLimits: Pick<RateLimits, "forget">;
  faults: Pick<Faults, "forget">;
  balancer: Pick<Balancer, "forget">;
  pool: Pick<WorkerPool, "drop">;
  logs: Pick<WorkerLogs, "remove">;
  containers: Pick<Containers, "removeVolume" | "tidy">;
  endpoints: Pick<EndpointLookup, "images">;
  /** The folder of the homes of workers. */
  homes: string;
  clock: Clock;
  log: Pick<Logger, "warn" | "error">;
}) {
  const { tokens, jobs, rateLimits, faults, balancer, pool, logs, containers, endpoints, homes, clock, log } = deps;
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();
  const soon = (work: Promise<void>): void => {
    const done: Promise<void> = work.finally(() => underWay.delete(done));
    underWay.add(done);
  };

  /** Removes everything that an endpoint left. */
  async function remove(endpointId: string): Promise<void> {
    tokens.forget(endpointId);
    balancer.forget(endpointId);
    await jobs.forget(endpointId);
    rateLimits.forget(endpointId);
    faults.forget(endpointId);
    await pool.drop(endpointId);
    await logs.remove(endpointId);
    await rm(join(homes, endpointId), { recursive: true, force: true });
    await tidy();
  }

  /** Removes pulled images that are no longer used. */
  async function tidy(): Promise<void> {
    await containers
      .tidy(endpoints.images())
      .catch((error: unknown) => log.warn({ err: error }, "pulled images: not all could be removed"));
  }

  /** A locked store or a full disk must not leave workers of a deleted endpoint. What is left at a stop, the next start removes. */
  async function removeUntilDone(endpointId: string): Promise<void> {
    for (;;) {
      try {
        return await remove(endpointId);
      } catch (error) {
        log.error({ err: error, endpoint: endpointId }, "deleted endpoint: cannot be removed completely; retrying");
        await clock.sleep(storePause, stopping.signal).catch(() => undefined);
        if (stopping.signal.aborted) return;
      }
    }
  }

  return {
    remove,
    /** The same in the background; failures are logged and retried. */
    removeSoon: (endpointId: string): void => soon(removeUntilDone(endpointId)),
    tidy,
    /** Deletes the folder of a deleted volume in the background; a failure is logged. */
    removeVolumeSoon: (volumeId: string): void =>
      soon(
        containers
          .removeVolume(volumeId)
          .catch((error: unknown) =>
            log.warn({ err: error, volume: volumeId }, "volume: its folder could not be removed"),
          ),
      ),
    /** Ends retries; resolves when nothing is under way in the background. */
    settled: (): Promise<unknown> => {
      stopping.abort();
      return Promise.all(underWay);
    },
  };
}
