import { retryRejection } from "../jobs/job";
import type { Jobs } from "../jobs/jobs";

/** A job that was not retried. */
export interface FailedRetry {
  id: string;
  reason: string;
}

/** Queues failed jobs again, all in one transaction; resolves with those that were not. */
export async function retryAll(retry: Jobs["retry"], endpointId: string, ids: string[]): Promise<FailedRetry[]> {
  const results = await Promise.all(
    ids.map(async (id): Promise<FailedRetry | undefined> => {
      try {
        const result = await retry(endpointId, id);
        if (!result) return { id, reason: "does not exist; its retention is over" };
        return result.retried ? undefined : { id, reason: retryRejection(result.job) };
      } catch (error) {
        return { id, reason: error instanceof Error ? error.message : String(error) };
      }
    }),
  );
  return results.filter((result) => result !== undefined);
}
