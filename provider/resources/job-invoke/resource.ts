import * as pulumi from "@pulumi/pulumi";
import type { JobInvokeArgs, JobInvokeOutputs } from "../../generated/args";
import { pauseStacks, registration } from "../registration";

/**
 * Runs one job on an endpoint as a part of the deployment: the deployment goes on only when the job went well. It runs
 * when it is created and when an input or a trigger changes, never in a preview; destroying it touches nothing.
 *
 * The smallest one, a job that has to complete:
 * ```ts
 * new JobInvoke("chat-works", { endpointId: endpoint.id, input: { prompt: "ping" } });
 * ```
 * A smoke test that runs again whenever the workers change, and looks at the output:
 * ```ts
 * new JobInvoke("chat-answers", {
 *   endpointId: endpoint.id,
 *   input: { prompt: "ping" },
 *   expect: { output: { text: "pong" } },
 *   triggers: [template.revision],
 * });
 * ```
 * With limits of its own, for a job that takes long:
 * ```ts
 * const index = new JobInvoke("build-index", {
 *   endpointId: endpoint.id,
 *   input: { corpus: "s3://acme/corpus" },
 *   timeout: 3600,
 *   policy: { executionTimeout: 3_000_000, ttl: 7_200_000 },
 * });
 * export const pages = index.output;
 * ```
 * A job that must fail, for instance to see that input is checked:
 * ```ts
 * new JobInvoke("refuses-nonsense", { endpointId: endpoint.id, input: {}, expect: { status: "FAILED" } });
 * ```
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: a base class of ours would be the source position that the SDK reports
export class JobInvoke extends pulumi.CustomResource {
  constructor(name: string, args: JobInvokeArgs, opts?: pulumi.CustomResourceOptions) {
    const resumeStacks = pauseStacks();
    try {
      super(...registration("JobInvoke", name, args, opts));
    } finally {
      resumeStacks();
    }
  }
}

export interface JobInvoke extends JobInvokeOutputs {}
