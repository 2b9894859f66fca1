import { expect, test } from "vitest";
import {
  type ContainerSpec,
  createBody,
  type EngineCapabilities,
} from "../../../../service/workers/runtimes/container/spec";
import { plainNeeds } from "./support/container-needs";

const engine: EngineCapabilities = { cpus: 8, gpus: false, diskLimit: false };
const plainSpec: ContainerSpec = {
  ...plainNeeds,
  image: "acme/worker:1",
  workerId: "w1",
  cmd: [],
  env: { A: "1", B: "x=y" },
  labels: { "serverless-compute.worker": "w1" },
  volumeFolder: undefined,
  gpuMode: "auto",
  network: { name: "net", serverlessUrl: "http://127.0.0.1:1", extraHosts: [], isDirect: true },
};
const cpu = { vcpus: 2, memoryInGb: 4 };
const oneGpu = [{ Driver: "", Count: 1, Capabilities: [["gpu"]] }];
const host = (setting: string): string => `HostConfig.${setting}`;

/** A rule, its container and engine, and a property of the create call; undefined if it must not exist. */
const rules: [string, Partial<ContainerSpec>, Partial<EngineCapabilities>, property: string, value: unknown][] = [
  ["a variable may contain an equals sign", {}, {}, "Env", ["A=1", "B=x=y"]],
  ["the image provides entrypoint", {}, {}, "Entrypoint", undefined],
  ["the image provides arguments", {}, {}, "Cmd", undefined],
  ["an entrypoint replaces the image's", { entrypoint: ["run"] }, {}, "Entrypoint", ["run"]],
  ["start arguments replace the image's", { cmd: ["--fast"] }, {}, "Cmd", ["--fast"]],
  ["an ended container is removed", {}, {}, host("AutoRemove"), true],
  ["a container cannot gain privileges", {}, {}, host("SecurityOpt"), ["no-new-privileges"]],
  ["the engine stores no output", {}, {}, host("LogConfig"), { Type: "none" }],
  ["a container has no additional hosts", {}, {}, host("ExtraHosts"), undefined],
  [
    "the network may require additional hosts",
    { network: { ...plainSpec.network, extraHosts: ["h:host-gateway"] } },
    {},
    host("ExtraHosts"),
    ["h:host-gateway"],
  ],
  ["a container without a volume has no mounts", { mountPaths: ["/m"] }, {}, host("Mounts"), undefined],
  [
    "a volume is mounted at each path",
    { volumeFolder: "/data/v1", mountPaths: ["/runpod-volume", "/models"] },
    {},
    host("Mounts"),
    [
      { Type: "bind", Source: "/data/v1", Target: "/runpod-volume" },
      { Type: "bind", Source: "/data/v1", Target: "/models" },
    ],
  ],
  ["a worker of a GPU endpoint has no CPU limit", {}, {}, host("NanoCpus"), undefined],
  ["a worker of a GPU endpoint has no memory limit", {}, {}, host("Memory"), undefined],
  ["a worker of a CPU endpoint has the CPUs of its flavour", { cpu }, {}, host("NanoCpus"), 2e9],
  ["a worker has at most the engine's CPUs", { cpu }, { cpus: 1 }, host("NanoCpus"), 1e9],
  ["a worker of a CPU endpoint has the memory of its flavour", { cpu }, {}, host("Memory"), 4 * 1024 ** 3],
  ["a worker of a CPU endpoint cannot swap", { cpu }, {}, host("MemorySwap"), 4 * 1024 ** 3],
  ["an engine without GPUs gets no request for them", { gpus: 1 }, {}, host("DeviceRequests"), undefined],
  ["an engine with GPUs provides the endpoint's number", { gpus: 1 }, { gpus: true }, host("DeviceRequests"), oneGpu],
  ["gpuMode all requests GPUs of any engine", { gpus: 1, gpuMode: "all" }, {}, host("DeviceRequests"), oneGpu],
  ["gpuMode none requests no GPUs", { gpus: 1, gpuMode: "none" }, { gpus: true }, host("DeviceRequests"), undefined],
  ["a CPU endpoint gets no GPUs", { gpuMode: "all" }, { gpus: true }, host("DeviceRequests"), undefined],
  ["a disk is limited if the engine can limit it", {}, { diskLimit: true }, host("StorageOpt"), { size: "5G" }],
  ["an engine without disk limits gets none", {}, {}, host("StorageOpt"), undefined],
];

test.each(rules)("%s", (_rule, spec, capabilities, property, value) => {
  const body = createBody({ ...plainSpec, ...spec }, { ...engine, ...capabilities });
  if (value === undefined) expect(body).not.toHaveProperty(property);
  else expect(body).toHaveProperty(property, value);
});
