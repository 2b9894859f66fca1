import { createClients, systemClock } from "serverless-compute-api";
import type { JobInvokeOutputs } from "serverless-compute-api/shapes";
import { resolveSettings, type Settings } from "../settings";
import { outcomeOf } from "./job-invoke";
import { type JobInvokeOptions, jobOrder } from "./job-order";
import { runExpected } from "./job-verdict";
import { explained } from "./messages";

export interface InvokeJobOptions {
  /** Where the service is; from the stack's config or the environment when absent, as for resources. */
  settings?: Pick<Settings, "clients">;
  /** Cancels the job on the service, then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Hears what is going on: the job's state and the seconds passed. */
  onProgress?: (text: string) => void;
}

/**
 * Runs one job and waits for it, as the resource JobInvoke does, from a script: rejects when the job does not end as
 * expected, and with a line for each argument that does not do.
 */
export async function invokeJob(
  args: JobInvokeOptions,
  options: InvokeJobOptions = {},
  resolve: () => Pick<Settings, "clients"> = resolveSettings,
): Promise<JobInvokeOutputs> {
  const order = jobOrder(args);
  const settings = options.settings ?? resolve();
  const clients = createClients(settings.clients);
  const context = {
    clients,
    clock: settings.clients.clock ?? systemClock,
    signal: options.signal ?? new AbortController().signal,
    progress: options.onProgress ?? (() => {}),
  };
  try {
    return outcomeOf(await runExpected(order, context));
  } catch (error) {
    throw explained(error, { label: `job on endpoint "${order.endpointId}"`, verb: "create" });
  } finally {
    await clients.close();
  }
}
