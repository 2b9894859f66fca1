import * as pulumi from "@pulumi/pulumi";
import type { TemplateArgs, TemplateOutputs } from "../../generated/args";
import { orElse, pauseStacks, previewed, registration } from "../registration";
import { revisionOf } from "./revision";

/**
 * Container image, start arguments and environment of an endpoint's workers.
 *
 * The smallest one:
 * ```ts
 * const template = new Template("chat", { imageName: "ghcr.io/acme/chat:1.4.2" });
 * ```
 * With an environment, a secret among it:
 * ```ts
 * const token = new Secret("hub-token", { value: config.requireSecret("hubToken") });
 * const template = new Template("chat", {
 *   imageName: "ghcr.io/acme/chat:1.4.2",
 *   containerDiskInGb: 20,
 *   env: { MODEL: "mistral-7b", HUB_TOKEN: token.reference },
 * });
 * ```
 * From a private registry, with its own start arguments:
 * ```ts
 * const template = new Template("chat", {
 *   name: "acme-chat",
 *   imageName: "registry.acme.example/chat:1.4.2",
 *   containerRegistryAuthId: "clzdaifot0001l90809257ynb",
 *   dockerArgs: "python -u handler.py --quantize",
 * });
 * ```
 * Destroying it waits until the service lets go of it, up to two minutes after its last use; the resource option
 * `customTimeouts: { delete: "5m" }` changes how long at most.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: a base class of ours would be the source position that the SDK reports
export class Template extends pulumi.CustomResource {
  /** Hash of what workers run; made for the `triggers` of a {@link JobInvoke}. */
  declare readonly revision: pulumi.Output<string>;

  constructor(name: string, args: TemplateArgs, opts?: pulumi.CustomResourceOptions) {
    const resumeStacks = pauseStacks();
    try {
      super(...registration("Template", name, args, opts));
    } finally {
      resumeStacks();
    }
    this.revision = previewed(this.revision, () => {
      const { imageName, dockerArgs, dockerEntrypoint, dockerStartCmd, env, ports, containerDiskInGb } = this;
      const { containerRegistryAuthId: credentials } = this;
      // In a preview, an omitted input without a default is unknown.
      const leftOut = args.containerRegistryAuthId === undefined;
      const content = {
        imageName,
        dockerArgs,
        dockerEntrypoint,
        dockerStartCmd,
        env,
        ports,
        containerDiskInGb,
        containerRegistryAuthId: leftOut ? orElse(credentials, pulumi.output(undefined)) : credentials,
      };
      return pulumi.output(content).apply(revisionOf);
    });
  }
}

export interface Template extends TemplateOutputs {}
