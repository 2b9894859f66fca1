import { readFileSync } from "node:fs";
import { z } from "zod";
import type { MoveFlags } from "../../provider/cli/move/move-recorded";

/** Ids of the objects in a state. */
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
 * The state in a file of test/fixtures/recorded-states with these ids and a pod. The provider recorded it against the local
 * service, which has no pods, so the pod follows the provider's schema.
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
 * recorded with them: runpod 0.1.5 and runpod-native 1.9.99. Terraform's were not: version 1.x has the attributes of the schema in
 * the provider's repository, including those that it cannot set with REST v2; version 2.0 has those of the vendor's migration guide
 * (both as of November 2026).
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
            address: "data.runpod_gpu_types.all",
            mode: "data",
            type: "runpod_gpu_types",
            name: "all",
            values: { id: "x" },
          },
          resource("runpod_container_registry_auth", "ghcr", {
            id: registry,
            name: "ghcr",
            username: "me",
            password: "in-tf-state",
          }),
          resource("runpod_network_volume", "models", {
            id: volume,
            name: "models",
            data_center_id: "EU-RO-1",
            size: 10,
            type: "STANDARD",
          }),
          resource("runpod_template", "worker", {
            id: template,
            name: "worker-7",
            image_name: "acme/echo:1",
            category: "NVIDIA",
            env: null,
            container_disk_in_gb: 50,
            container_registry_auth_id: null,
            docker_entrypoint: null,
            docker_start_cmd: null,
            is_public: false,
            is_serverless: true,
            ports: null,
            readme: null,
            volume_in_gb: 0,
            volume_mount_path: "/workspace",
            earned: 0,
            is_runpod: false,
            runtime_in_min: 0,
          }),
        ],
        child_modules: [
          {
            address: "module.chat",
            resources: [
              resource("runpod_endpoint", "llm", {
                id: endpoint,
                name: "chat",
                image_name: null,
                template_id: template,
                template_version: 1,
                allowed_cuda_versions: null,
                min_cuda_version: null,
                compute_type: "GPU",
                cpu_flavor_ids: null,
                cpu_flavor_priority: null,
                gpu_type_priority: "availability",
                cloud_type: "SECURE",
                env: null,
                created_at: "2026-11-24T12:00:00.000Z",
                data_center_ids: null,
                execution_timeout_ms: 600000,
                flashboot: false,
                gpu_count: 1,
                gpu_type_id: "NVIDIA L4",
                gpu_type_ids: null,
                idle_timeout: 5,
                network_volume_id: volume,
                network_volume_ids: null,
                scaler_type: "QUEUE_DELAY",
                scaler_value: 4,
                container_disk_in_gb: 50,
                users: ["local"],
                version: 1,
                vcpu_count: 2,
                workers: [],
                workers_max: 0,
                workers_min: 0,
              }),
              resource("runpod_pod", "notebook", { id: "pod-1" }),
              resource("runpod_pod_action", "stop", { pod_id: "pod-1", action: "stop" }),
              resource("runpod_machine", "own", { id: "m-1" }),
              resource("runpod_endpoint_job", "warmup", { id: "job-1" }),
              resource("runpod_endpoint_worker", "pinned", { id: "w-1" }),
              resource("runpod_ecr_delegation", "ecr", { id: "d-1" }),
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
          resource("runpod_registry", "ghcr", { id: registry, name: "ghcr", username: "me", password: "in-tf-state" }),
          {
            ...resource("runpod_network_volume", "models", {
              id: volume,
              name: "models",
              data_center: "EU-RO-1",
              size: 10,
              type: "STANDARD",
            }),
            index: 0,
          },
          resource("runpod_template", "worker", {
            id: template,
            name: "worker-7",
            image: "acme/echo:1",
            args: "",
            disk: 50,
            env: {},
            ports: [],
            category: "NVIDIA",
            public: false,
            serverless: true,
            registry: null,
            persistent_volume: null,
          }),
          resource("runpod_serverless_endpoint", "llm", {
            id: endpoint,
            name: "chat",
            endpoint_type: "QUEUE",
            image: null,
            template_id: template,
            compute_type: "GPU",
            gpu_pools: ["ADA_24"],
            excluded_types: ["NVIDIA L40"],
            gpu_count: 1,
            cpu: null,
            allowed_cuda_versions: [],
            min_cuda_version: "12.1",
            data_center_ids: [],
            network_volumes: [volume],
            disk: 50,
            env: {},
            ports: [],
            registry: null,
            flashboot: "OFF",
            timeout: 600000,
            idle_timeout: 5,
            scaling_type: "QUEUE_DELAY",
            scaling_value: 4,
            workers_min: 0,
            workers_max: 0,
            created_at: "2026-11-24T12:00:00.000Z",
          }),
          resource("runpod_cluster", "train", { id: "c-1" }),
          resource("runpod_pod", "notebook", { id: "pod-1" }),
          resource("runpod_pod_action", "stop", { pod_id: "pod-1", action: "stop" }),
          resource("runpod_machine", "own", { id: "m-1" }),
          resource("runpod_registry_delegation", "ecr", { id: "d-1" }),
          resource("runpod_account_ssh_keys", "this", { id: "account" }),
        ],
      }),
  },
};

function resource(type: string, name: string, values: object) {
  return { address: `${type}.${name}`, mode: "managed", type, name, provider_name: "runpod/runpod", values };
}
