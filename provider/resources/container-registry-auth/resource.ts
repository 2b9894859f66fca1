import * as pulumi from "@pulumi/pulumi";
import type { ContainerRegistryAuthArgs, ContainerRegistryAuthOutputs } from "../../generated/args";
import { pauseStacks, registration } from "../registration";

/**
 * Credentials for a private image registry; a template names them by id.
 *
 * ```ts
 * const config = new pulumi.Config();
 * const registry = new ContainerRegistryAuth("registry", {
 *   username: "acme-robot",
 *   password: config.requireSecret("registryPassword"),
 * });
 * new Template("chat", { imageName: "registry.acme.example/chat:1.4.2", containerRegistryAuthId: registry.id });
 * ```
 * Adopt existing credentials by their name:
 * ```ts
 * new ContainerRegistryAuth("registry", { name: "acme", username: "acme-robot", password, adoptExisting: true });
 * ```
 * User name and password change in place. The password is kept encrypted in state, also when it was passed in plain.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: a base class of ours would be the source position that the SDK reports
export class ContainerRegistryAuth extends pulumi.CustomResource {
  constructor(name: string, args: ContainerRegistryAuthArgs, opts?: pulumi.CustomResourceOptions) {
    // A missing value stays undefined, so that the check reports it.
    const guarded = args.password === undefined ? args : { ...args, password: pulumi.secret(args.password) };
    const resumeStacks = pauseStacks();
    try {
      super(...registration("ContainerRegistryAuth", name, guarded, opts));
    } finally {
      resumeStacks();
    }
  }
}

export interface ContainerRegistryAuth extends ContainerRegistryAuthOutputs {}
