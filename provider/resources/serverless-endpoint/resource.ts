import * as pulumi from "@pulumi/pulumi";
import { jobApiRoot } from "serverless-compute-api/address";
import type { ServerlessEndpointArgs, ServerlessEndpointOutputs } from "../../generated/args";
import { programConfig } from "../../settings/program-config";
import { resolveServerlessUrl } from "../../settings/settings";
import { pauseStacks, previewed, registration, typeToken } from "../registration";

/**
 * Runs jobs on workers made from a template; takes them at its own address.
 *
 * The smallest one, up to three workers, none while there is nothing to do:
 * ```ts
 * const endpoint = new ServerlessEndpoint("chat", { templateId: template.id });
 * export const url = endpoint.url;
 * ```
 * With GPU types in order of preference and a volume:
 * ```ts
 * const endpoint = new ServerlessEndpoint("chat", {
 *   templateId: template.id,
 *   gpuTypeIds: ["NVIDIA L4", "NVIDIA A40"],
 *   networkVolumeId: models.id,
 *   dataCenterIds: ["EU-RO-1"],
 * });
 * ```
 * With its scaling spelled out:
 * ```ts
 * const endpoint = new ServerlessEndpoint("chat", {
 *   templateId: template.id,
 *   gpuTypeIds: ["NVIDIA L4"],
 *   workersMin: 1,
 *   workersMax: 10,
 *   idleTimeout: 60,
 *   scalerType: "REQUEST_COUNT",
 *   scalerValue: 2,
 *   executionTimeoutMs: 120_000,
 * });
 * ```
 * Destroying it removes its logs and its job history too.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: a base class of ours would be the source position that the SDK reports
export class ServerlessEndpoint extends pulumi.CustomResource {
  /** Root of its job API: `/run`, `/runsync` and the others are below it. */
  declare readonly url: pulumi.Output<string>;

  constructor(name: string, args: ServerlessEndpointArgs, opts?: pulumi.CustomResourceOptions) {
    const resumeStacks = pauseStacks();
    try {
      super(...registration("ServerlessEndpoint", name, args, opts));
    } finally {
      resumeStacks();
    }
    this.url = previewed(this.url, () => {
      // Another provider may have addresses of its own.
      if (this.getProvider(typeToken("ServerlessEndpoint"))) return undefined;
      // The address of a load balancer is known only to the service.
      if (args.type !== undefined && args.type !== "QUEUE") return undefined;
      const serverlessUrl = resolveServerlessUrl(programConfig);
      return serverlessUrl === undefined ? undefined : this.id.apply((id) => jobApiRoot(serverlessUrl, id));
    });
  }
}

export interface ServerlessEndpoint extends ServerlessEndpointOutputs {}
