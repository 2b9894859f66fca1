import * as pulumi from "@pulumi/pulumi";
import { jobApiRoot } from "serverless-compute-api/address";
import { programConfig } from "../../program-config";
import { resolveServerlessUrl } from "../../settings";
import type { ServerlessEndpointArgs, ServerlessEndpointOutputs } from "../args";
import { previewed, registration, typeToken } from "../registration";

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
export class ServerlessEndpoint extends pulumi.CustomResource implements ServerlessEndpointOutputs {
  declare readonly name: pulumi.Output<string>;
  declare readonly templateId: pulumi.Output<string>;
  declare readonly computeType: pulumi.Output<"GPU" | "CPU">;
  declare readonly gpuTypeIds: pulumi.Output<string[]>;
  declare readonly gpuCount: pulumi.Output<number>;
  declare readonly cpuFlavorIds: pulumi.Output<string[] | undefined>;
  declare readonly vcpuCount: pulumi.Output<number | undefined>;
  declare readonly minCudaVersion: pulumi.Output<string | undefined>;
  declare readonly networkVolumeId: pulumi.Output<string | undefined>;
  declare readonly executionTimeoutMs: pulumi.Output<number | undefined>;
  declare readonly dataCenterIds: pulumi.Output<string[]>;
  declare readonly allowedCudaVersions: pulumi.Output<string[]>;
  declare readonly networkVolumeIds: pulumi.Output<string[]>;
  declare readonly idleTimeout: pulumi.Output<number>;
  declare readonly flashboot: pulumi.Output<boolean>;
  declare readonly scalerType: pulumi.Output<"QUEUE_DELAY" | "REQUEST_COUNT">;
  declare readonly scalerValue: pulumi.Output<number>;
  declare readonly workersMin: pulumi.Output<number>;
  declare readonly workersMax: pulumi.Output<number>;
  declare readonly adoptExisting: pulumi.Output<boolean | undefined>;
  /** Root of its job API: `/run`, `/runsync` and the others are below it. */
  declare readonly url: pulumi.Output<string>;
  declare readonly version: pulumi.Output<number>;

  constructor(name: string, args: ServerlessEndpointArgs, opts?: pulumi.CustomResourceOptions) {
    super(...registration("ServerlessEndpoint", name, args, opts));
    this.url = previewed(this.url, () => {
      // Another provider may have addresses of its own.
      if (this.getProvider(typeToken("ServerlessEndpoint"))) return undefined;
      const serverlessUrl = resolveServerlessUrl(programConfig);
      return serverlessUrl === undefined ? undefined : this.id.apply((id) => jobApiRoot(serverlessUrl, id));
    });
  }
}
