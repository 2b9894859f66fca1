import * as pulumi from "@pulumi/pulumi";
import { jobApiRoot } from "serverless-compute-api/address";
import type { ServerlessEndpointArgs, ServerlessEndpointOutputs } from "../../generated/args";
import { programConfig } from "../../settings/program-config";
import { resolveServerlessUrl } from "../../settings/settings";
import { disableStackTraces, knownOr, resourceArguments, typeToken, withPreviewValue } from "../resource-arguments";
import { endpointRevisionOf } from "../template/revision";

/**
 * Endpoint that accepts jobs at its own URL and runs them on workers with the container of a template or one of its own.
 *
 * Minimal endpoint, with up to three workers and none when idle:
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
 * With explicit scaling:
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
 * A destroy also deletes its logs and job history.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: with a base class of our own, the SDK would report it as the source position
export class ServerlessEndpoint extends pulumi.CustomResource {
  /** Root of the endpoint's job API, which contains `/run`, `/runsync` and the other operations. */
  declare readonly url: pulumi.Output<string>;
  /** Hash of the container, for the `triggers` of a {@link JobInvoke}. */
  declare readonly revision: pulumi.Output<string>;

  constructor(name: string, args: ServerlessEndpointArgs, opts?: pulumi.CustomResourceOptions) {
    const restoreStackTraces = disableStackTraces();
    try {
      super(...resourceArguments("ServerlessEndpoint", name, args, opts));
    } finally {
      restoreStackTraces();
    }
    const given: Partial<ServerlessEndpointArgs> = args ?? {};
    this.url = withPreviewValue(this.url, () => {
      // An explicit provider may have other addresses.
      if (this.getProvider(typeToken("ServerlessEndpoint"))) return undefined;
      // The address of a load balancer is known only to the service.
      if (given.type !== undefined && given.type !== "QUEUE") return undefined;
      const serverlessUrl = resolveServerlessUrl(programConfig);
      return serverlessUrl === undefined ? undefined : this.id.apply((id) => jobApiRoot(serverlessUrl, id));
    });
    this.revision = withPreviewValue(this.revision, () => {
      // In a preview, an omitted input is unknown.
      const inputOf = <Value>(output: pulumi.Output<Value>, arg: unknown): pulumi.Output<Value | undefined> =>
        arg === undefined ? knownOr<Value | undefined>(output, pulumi.output(undefined)) : output;
      const content = {
        templateId: inputOf(this.templateId, given.templateId),
        imageName: inputOf(this.imageName, given.imageName),
        dockerArgs: inputOf(this.dockerArgs, given.dockerArgs),
        dockerEntrypoint: inputOf(this.dockerEntrypoint, given.dockerEntrypoint),
        dockerStartCmd: inputOf(this.dockerStartCmd, given.dockerStartCmd),
        env: inputOf(this.env, given.env),
        ports: inputOf(this.ports, given.ports),
        containerDiskInGb: inputOf(this.containerDiskInGb, given.containerDiskInGb),
        containerRegistryAuthId: inputOf(this.containerRegistryAuthId, given.containerRegistryAuthId),
      };
      return pulumi.output(content).apply(endpointRevisionOf);
    });
  }
}

export interface ServerlessEndpoint extends ServerlessEndpointOutputs {}
