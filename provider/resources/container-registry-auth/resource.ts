import * as pulumi from "@pulumi/pulumi";
import type { ContainerRegistryAuthArgs, ContainerRegistryAuthOutputs } from "../../generated/args";
import { disableStackTraces, resourceArguments } from "../resource-arguments";

/**
 * Credentials for a private image registry; a template refers to them by id.
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
 * User name and password change in place with REST v1; with REST v2 a change replaces the credentials, and an adoption keeps them. The password is encrypted
 * in the state, even if the program passes it as plain text.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: with a base class of our own, the SDK would report it as the source position
export class ContainerRegistryAuth extends pulumi.CustomResource {
  constructor(name: string, args: ContainerRegistryAuthArgs, opts?: pulumi.CustomResourceOptions) {
    // A missing value stays undefined, so that the check reports it.
    const guarded = args?.password === undefined ? args : { ...args, password: pulumi.secret(args.password) };
    const restoreStackTraces = disableStackTraces();
    try {
      super(...resourceArguments("ContainerRegistryAuth", name, guarded, opts));
    } finally {
      restoreStackTraces();
    }
  }
}

export interface ContainerRegistryAuth extends ContainerRegistryAuthOutputs {}
