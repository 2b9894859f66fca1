import * as pulumi from "@pulumi/pulumi";
import type { NetworkVolumeArgs, NetworkVolumeOutputs } from "../../generated/args";
import { disableStackTraces, resourceArguments } from "../resource-arguments";

/**
 * Storage that outlives workers; endpoints mount it.
 *
 * ```ts
 * const models = new NetworkVolume("models", { size: 100, dataCenterId: "EU-RO-1" });
 * new ServerlessEndpoint("chat", { templateId: template.id, networkVolumeId: models.id });
 * ```
 * Its data cannot be restored after a delete, so protect it in a production stack:
 * ```ts
 * const models = new NetworkVolume("models", { name: "acme-models", size: 500, dataCenterId: "EU-RO-1" }, { protect: true });
 * ```
 * A larger size is applied in place, and a smaller size is rejected. A change of the data centre replaces the volume.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: with a base class of our own, the SDK would report it as the source position
export class NetworkVolume extends pulumi.CustomResource {
  constructor(name: string, args: NetworkVolumeArgs, opts?: pulumi.CustomResourceOptions) {
    const restoreStackTraces = disableStackTraces();
    try {
      super(...resourceArguments("NetworkVolume", name, args, opts));
    } finally {
      restoreStackTraces();
    }
  }
}

export interface NetworkVolume extends NetworkVolumeOutputs {}
