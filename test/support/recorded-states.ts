import type { MoveFlags } from "../../provider/cli/move/move-recorded";

/** Ids of the objects that a state names. */
export interface RecordedIds {
  template: string;
  endpoint: string;
  volume: string;
  registry: string;
  secret: string;
}

const urn = (type: string, name: string): string => `urn:pulumi:prod::shop::${type}::${name}`;
const pulumiState = (resources: object[]): string =>
  JSON.stringify({ version: 3, deployment: { manifest: {}, resources } });
const custom = (type: string, name: string, id: string, inputs: object, outputs: object = inputs) => ({
  ...{ urn: urn(type, name), custom: true, id, type, inputs, outputs },
});
const stack = { urn: urn("pulumi:pulumi:Stack", "shop-prod"), custom: false, type: "pulumi:pulumi:Stack" };
const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:xyz" };

const terraformState = (module: object): string =>
  JSON.stringify({ format_version: "1.0", terraform_version: "1.9.5", values: { root_module: module } });

/**
 * States of other providers in the form of their published sources (November 2026), with the same objects and one object that this
 * package does not have.
 */
export const recordedStates: Record<string, { from: MoveFlags["from"]; text(ids: RecordedIds): string }> = {
  "the official Pulumi provider": {
    from: "runpod-pulumi",
    text: ({ template, endpoint, volume, registry, secret: secretId }) =>
      pulumiState([
        stack,
        custom("runpod:index:Secret", "hf", secretId, { name: "HF_TOKEN", value: secret }),
        custom("runpod:index:ContainerRegistryAuth", "ghcr", registry, {
          name: "ghcr",
          username: "me",
          password: secret,
        }),
        custom("runpod:index:NetworkVolume", "models", volume, { name: "models", size: 10, dataCenterId: "EU-RO-1" }),
        custom("runpod:index:Template", "worker", template, { name: "worker", imageName: "acme/echo:1", minVram: 24 }),
        custom("runpod:index:Endpoint", "llm", endpoint, {
          ...{ name: "chat", templateId: template, gpuIds: "ADA_24", modelReferences: ["m"], hubReleaseId: "" },
        }),
        custom("runpod:index:Pod", "notebook", "pod-1", { name: "notebook" }),
      ]),
  },
  "the native Pulumi provider": {
    from: "runpod-native",
    // Its resources have their names as ids.
    text: ({ template, endpoint, volume, secret: secretId }) =>
      pulumiState([
        stack,
        custom("runpod:index:Secret", "hf", "hf", { name: "HF_TOKEN", value: secret }, { secret: { id: secretId } }),
        custom("runpod:index:NetworkStorage", "models", "models", { size: 10 }, { networkStorage: { id: volume } }),
        custom("runpod:index:Template", "worker", "worker", { name: "worker" }, { template: { id: template } }),
        custom("runpod:index:Endpoint", "llm", "llm", { gpuIds: "ADA_24" }, { endpoint: { id: endpoint } }),
        custom("runpod:index:Pod", "notebook", "notebook", { name: "notebook" }, { pod: { id: "pod-1" } }),
      ]),
  },
  "Terraform 1.x": {
    from: "terraform",
    text: ({ template, endpoint, volume, registry }) =>
      terraformState({
        resources: [
          {
            ...{ address: "data.runpod_gpu_types.all", mode: "data", type: "runpod_gpu_types", name: "all" },
            values: { id: "x" },
          },
          resource("runpod_container_registry_auth", "ghcr", {
            id: registry,
            name: "ghcr",
            password: "in-tf-state",
          }),
          resource("runpod_network_volume", "models", { id: volume, data_center_id: "EU-RO-1", size: 10 }),
          resource("runpod_template", "worker", { id: template, image_name: "acme/echo:1" }),
        ],
        child_modules: [
          {
            address: "module.chat",
            resources: [
              resource("runpod_endpoint", "llm", { id: endpoint, gpu_type_priority: "availability", workers: [] }),
              resource("runpod_pod", "notebook", { id: "pod-1" }),
            ],
          },
        ],
      }),
  },
  "Terraform 2.0": {
    from: "terraform",
    text: ({ template, endpoint, volume, registry }) =>
      terraformState({
        resources: [
          resource("runpod_registry", "ghcr", { id: registry, name: "ghcr" }),
          { ...resource("runpod_network_volume", "models", { id: volume, data_center: "EU-RO-1" }), index: 0 },
          resource("runpod_template", "worker", { id: template, image: "acme/echo:1", disk: 5 }),
          resource("runpod_serverless_endpoint", "llm", { id: endpoint, gpu_pools: ["ADA_24"], scaling_value: 4 }),
          resource("runpod_cluster", "train", { id: "c-1" }),
        ],
      }),
  },
};

function resource(type: string, name: string, values: object) {
  return { address: `${type}.${name}`, mode: "managed", type, name, provider_name: "runpod/runpod", values };
}
