import * as pulumi from "@pulumi/pulumi";
import type { NetworkVolumeArgs, NetworkVolumeOutputs } from "../../generated/args";
import { pauseStacks, registration } from "../registration";

/**
 * Storage that outlives workers; endpoints mount it.
 *
 * ```ts
 * const models = new NetworkVolume("models", { size: 100, dataCenterId: "EU-RO-1" });
 * new ServerlessEndpoint("chat", { templateId: template.id, networkVolumeId: models.id });
 * ```
 * It holds data that nothing brings back, so a production stack protects it:
 * ```ts
 * const models = new NetworkVolume("models", { name: "acme-models", size: 500, dataCenterId: "EU-RO-1" }, { protect: true });
 * ```
 * A larger size is set in place, a smaller one is refused, another data centre replaces the volume.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: a base class of ours would be the source position that the SDK reports
export class NetworkVolume extends pulumi.CustomResource {
  constructor(name: string, args: NetworkVolumeArgs, opts?: pulumi.CustomResourceOptions) {
    const resumeStacks = pauseStacks();
    try {
      super(...registration("NetworkVolume", name, args, opts));
    } finally {
      resumeStacks();
    }
  }
}

export interface NetworkVolume extends NetworkVolumeOutputs {}
