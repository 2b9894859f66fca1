import type { InvokeJobOptions } from "./lifecycle/invoke-job";
import type { JobInvokeOptions } from "./lifecycle/job-order";
import { inOneLine } from "./one-line-errors";

export type { InvokeJobOptions, JobInvokeOptions };

/**
 * Runs one job and waits for it, as the resource JobInvoke does, from a script or a pipeline:
 * ```ts
 * const { output } = await invokeJob({ endpointId, input: { prompt: "ping" }, expect: { output: { text: "pong" } } });
 * ```
 * Rejects with what a person needs to know when the job does not end as expected. The service's clients are loaded at
 * the first call, so that a program that only declares resources starts without them.
 */
export const invokeJob: typeof import("./lifecycle/invoke-job").invokeJob = async (args, options) => {
  const { invokeJob: run } = await import("./lifecycle/invoke-job.js");
  try {
    return await run(args, options);
  } catch (thrown) {
    throw inOneLine(thrown);
  }
};
