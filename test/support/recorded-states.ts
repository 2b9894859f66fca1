import { readFileSync } from "node:fs";
import { z } from "zod";
import type { MoveFlags } from "../../provider/cli/move/move-recorded";

/** Ids of the objects that a state names. */
export interface RecordedIds {
  template: string;
  endpoint: string;
  volume: string;
  registry: string;
  secret: string;
}

/** The text of a file of test/fixtures/recorded-states with these ids. */
export const recordedText = (file: string, ids: RecordedIds): string =>
  readFileSync(new URL(`../fixtures/recorded-states/${file}.json`, import.meta.url), "utf8").replace(
    /<(\w+)>/g,
    (_, kind) => z.string().parse(Reflect.get(ids, kind)),
  );

/**
 * The state in a file of test/fixtures/recorded-states with these ids, and with a pod. The provider recorded it at the local
 * service, which has no pods, so the pod is written in the form of the provider's schema.
 */
function pulumiState(file: string, ids: RecordedIds): string {
  const state = stateShape.parse(JSON.parse(recordedText(file, ids)));
  const type = "runpod:index:Pod";
  const pod = { urn: `urn:pulumi:prod::shop::${type}::notebook`, custom: true, type, inputs: { name: "notebook" } };
  state.deployment.resources.push({ ...pod, id: "notebook", outputs: { name: "notebook", pod: { id: "pod-1" } } });
  return JSON.stringify(state);
}
const stateShape = z.looseObject({ deployment: z.looseObject({ resources: z.array(z.looseObject({})) }) });

const terraformState = (module: object): string =>
  JSON.stringify({ format_version: "1.0", terraform_version: "1.9.5", values: { root_module: module } });

/**
 * States of other providers with the same objects, and one object that this package does not have. Those of Pulumi's providers were
 * recorded with them: runpod 0.1.5 and runpod-native 1.9.99. Terraform's have the form of the published sources (November 2026).
 */
export const recordedStates: Record<string, { from: MoveFlags["from"]; text(ids: RecordedIds): string }> = {
  "the official Pulumi provider": { from: "runpod-pulumi", text: (ids) => pulumiState("runpod-pulumi", ids) },
  "the native Pulumi provider": { from: "runpod-native", text: (ids) => pulumiState("runpod-native", ids) },
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
