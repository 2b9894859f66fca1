import type { JobInvokeOutputs } from "serverless-compute-api/shapes";
import type { InvokeJobOptions } from "./lifecycle/invoke-job";
import type { JobInvokeOptions } from "./lifecycle/job-order";
import { inOneLine } from "./one-line-errors";
import { programSettings } from "./program-config";

export type { InvokeJobOptions, JobInvokeOptions };

/**
 * Runs one job and waits for it, as the resource JobInvoke does, from a script or a pipeline:
 * ```ts
 * const { output } = await invokeJob({ endpointId, input: { prompt: "ping" }, expect: { output: { text: "pong" } } });
 * ```
 * Rejects with what a person needs to know when the job does not end as expected. The service's clients are loaded at
 * the first call, so that a program that only declares resources starts without them.
 */
export async function invokeJob(args: JobInvokeOptions, options: InvokeJobOptions = {}): Promise<JobInvokeOutputs> {
  const { invokeJob: run } = await import("./lifecycle/invoke-job.js");
  try {
    return await run(args, options, programSettings);
  } catch (thrown) {
    throw inOneLine(thrown);
  }
}
