import * as pulumi from "@pulumi/pulumi";
import type { TemplateArgs, TemplateOutputs } from "../../generated/args";
import { disableStackTraces, knownOr, resourceArguments, withPreviewValue } from "../resource-arguments";
import { revisionOf } from "./revision";

/**
 * Container image, start arguments and environment of an endpoint's workers.
 *
 * Minimal template:
 * ```ts
 * const template = new Template("chat", { imageName: "ghcr.io/acme/chat:1.4.2" });
 * ```
 * With an environment that contains a secret:
 * ```ts
 * const token = new Secret("hub-token", { value: config.requireSecret("hubToken") });
 * const template = new Template("chat", {
 *   imageName: "ghcr.io/acme/chat:1.4.2",
 *   containerDiskInGb: 20,
 *   env: { MODEL: "mistral-7b", HUB_TOKEN: token.reference },
 * });
 * ```
 * With an image from a private registry and custom start arguments:
 * ```ts
 * const template = new Template("chat", {
 *   name: "acme-chat",
 *   imageName: "registry.acme.example/chat:1.4.2",
 *   containerRegistryAuthId: "clzdaifot0001l90809257ynb",
 *   dockerArgs: "python -u handler.py --quantize",
 * });
 * ```
 * A destroy waits until the service releases the template, up to two minutes after its last use. The resource option
 * `customTimeouts: { delete: "5m" }` changes the time limit.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: with a base class of our own, the SDK would report it as the source position
export class Template extends pulumi.CustomResource {
  /** Hash of the workers' content, for the `triggers` of a {@link JobInvoke}. */
  declare readonly revision: pulumi.Output<string>;

  constructor(name: string, args: TemplateArgs, opts?: pulumi.CustomResourceOptions) {
    const restoreStackTraces = disableStackTraces();
    try {
      super(...resourceArguments("Template", name, args, opts));
    } finally {
      restoreStackTraces();
    }
    this.revision = withPreviewValue(this.revision, () => {
      const { imageName, dockerArgs, dockerEntrypoint, dockerStartCmd, env, ports, containerDiskInGb } = this;
      const { containerRegistryAuthId: credentials } = this;
      // In a preview, an omitted input without a default is unknown.
      const isOmitted = args?.containerRegistryAuthId === undefined;
      const content = {
        imageName,
        dockerArgs,
        dockerEntrypoint,
        dockerStartCmd,
        env,
        ports,
        containerDiskInGb,
        containerRegistryAuthId: isOmitted ? knownOr(credentials, pulumi.output(undefined)) : credentials,
      };
      return pulumi.output(content).apply(revisionOf);
    });
  }
}

export interface Template extends TemplateOutputs {}
