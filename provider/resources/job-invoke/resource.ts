import * as pulumi from "@pulumi/pulumi";
import type { JobInvokeArgs, JobInvokeOutputs } from "../../generated/args";
import { disableStackTraces, resourceArguments } from "../resource-arguments";

/**
 * Runs a job on an endpoint as part of the deployment, which continues only if the job succeeds. The job runs when the resource is
 * created and when an input or a trigger changes, never in a preview. A destroy makes no API calls.
 *
 * Minimal example, a job that must complete:
 * ```ts
 * new JobInvoke("chat-works", { endpointId: endpoint.id, input: { prompt: "ping" } });
 * ```
 * Smoke test that checks the output and runs again whenever the workers change:
 * ```ts
 * new JobInvoke("chat-responds", {
 *   endpointId: endpoint.id,
 *   input: { prompt: "ping" },
 *   expect: { output: { text: "pong" } },
 *   triggers: [endpoint.revision],
 * });
 * ```
 * Long-running job with its own time limits:
 * ```ts
 * const index = new JobInvoke("build-index", {
 *   endpointId: endpoint.id,
 *   input: { corpus: "s3://acme/corpus" },
 *   timeout: 3600,
 *   policy: { executionTimeout: 3_000_000, ttl: 7_200_000 },
 * });
 * export const pages = index.output;
 * ```
 * Job that must fail, for example to test the validation of its input:
 * ```ts
 * new JobInvoke("rejects-empty-input", { endpointId: endpoint.id, input: {}, expect: { status: "FAILED" } });
 * ```
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: with a base class of our own, the SDK would report it as the source position
export class JobInvoke extends pulumi.CustomResource {
  constructor(name: string, args: JobInvokeArgs, opts?: pulumi.CustomResourceOptions) {
    const guarded = args?.s3Config === undefined ? args : { ...args, s3Config: pulumi.secret(args.s3Config) };
    const restoreStackTraces = disableStackTraces();
    try {
      super(...resourceArguments("JobInvoke", name, guarded, opts));
    } finally {
      restoreStackTraces();
    }
  }
}

export interface JobInvoke extends JobInvokeOutputs {}
