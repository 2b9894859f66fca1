import * as pulumi from "@pulumi/pulumi";
import { secretReference } from "serverless-compute-api/limits";
import type { SecretArgs, SecretOutputs } from "../../generated/args";
import { disableStackTraces, resourceArguments, withPreviewValue } from "../resource-arguments";

/**
 * Sensitive value for the environment of workers. It can be written but not read back.
 *
 * ```ts
 * const config = new pulumi.Config();
 * const token = new Secret("hub-token", { value: config.requireSecret("hubToken") });
 * ```
 * A template contains its reference, which is not secret:
 * ```ts
 * new Template("chat", { imageName: "ghcr.io/acme/chat:1.4.2", env: { HUB_TOKEN: token.reference } });
 * ```
 * With an explicit name, so that templates created elsewhere can refer to it:
 * ```ts
 * new Secret("hub-token", { name: "HUB_TOKEN", value: token, description: "Reads private models" });
 * ```
 * The value is encrypted in the state, even if the program passes it as plain text.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: with a base class of our own, the SDK would report it as the source position
export class Secret extends pulumi.CustomResource {
  /** Reference to the value for a template's env: `{{ RUNPOD_SECRET_<name> }}`. */
  declare readonly reference: pulumi.Output<string>;

  constructor(name: string, args: SecretArgs, opts?: pulumi.CustomResourceOptions) {
    // A missing value stays undefined, so that the check reports it.
    const secretArgs = args?.value === undefined ? args : { ...args, value: pulumi.secret(args.value) };
    const restoreStackTraces = disableStackTraces();
    try {
      super(...resourceArguments("Secret", name, secretArgs, opts));
    } finally {
      restoreStackTraces();
    }
    // In the preview of a create, the id is missing and a generated name is provisional: the update generates another name.
    const hasName = args?.name !== undefined;
    this.reference = withPreviewValue(this.reference, () =>
      hasName
        ? this.name.apply(secretReference)
        : pulumi.all([this.name, this.id]).apply(([generated]) => secretReference(generated)),
    );
  }
}

export interface Secret extends SecretOutputs {}
