import * as pulumi from "@pulumi/pulumi";
import { secretReference } from "serverless-compute-api/limits";
import type { SecretArgs, SecretOutputs } from "../../generated/args";
import { pauseStacks, previewed, registration } from "../registration";

/**
 * A sensitive value that workers get in their environment. It can be written and never read back.
 *
 * ```ts
 * const config = new pulumi.Config();
 * const token = new Secret("hub-token", { value: config.requireSecret("hubToken") });
 * ```
 * A template passes it on by its reference, which is not a secret itself:
 * ```ts
 * new Template("chat", { imageName: "ghcr.io/acme/chat:1.4.2", env: { HUB_TOKEN: token.reference } });
 * ```
 * With a name of its own, so that templates made elsewhere can refer to it:
 * ```ts
 * new Secret("hub-token", { name: "HUB_TOKEN", value: token, description: "Reads private models" });
 * ```
 * The value is kept encrypted in state, also when it was passed in plain.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: a base class of ours would be the source position that the SDK reports
export class Secret extends pulumi.CustomResource {
  /** The text that a template's env uses for the value, `{{ RUNPOD_SECRET_<name> }}`. */
  declare readonly reference: pulumi.Output<string>;

  constructor(name: string, args: SecretArgs, opts?: pulumi.CustomResourceOptions) {
    // A missing value stays undefined, so that the check reports it.
    const guarded = args.value === undefined ? args : { ...args, value: pulumi.secret(args.value) };
    const resumeStacks = pauseStacks();
    try {
      super(...registration("Secret", name, guarded, opts));
    } finally {
      resumeStacks();
    }
    // The preview of a create has no id, and its generated name is provisional: the update generates another one.
    const isSet = args.name !== undefined;
    this.reference = previewed(this.reference, () =>
      isSet
        ? this.name.apply(secretReference)
        : pulumi.all([this.name, this.id]).apply(([its]) => secretReference(its)),
    );
  }
}

export interface Secret extends SecretOutputs {}
