import type { ContainerNeeds } from "../../../resources/endpoint-lookup";
import { loopback, type ServerPorts } from "../../worker-server";
import type { ContainerNetwork } from "./network";

/** GPUs for workers: if the engine supports them (`auto`), always (`all`), or never (`none`). */
export type GpuMode = "auto" | "all" | "none";

/** Capabilities of the engine. */
export interface EngineCapabilities {
  /** Number of CPUs of the engine's machine. */
  cpus: number;
  gpus: boolean;
  /** True if the engine can limit a container's disk; assumed until it rejects a limit. */
  diskLimit: boolean;
}

/** A container in the service's terms. */
export interface ContainerSpec extends ContainerNeeds {
  image: string;
  workerId: string;
  cmd: string[];
  env: Record<string, string>;
  labels: Record<string, string>;
  /** Ports of the container's server; undefined without a server. */
  serverPorts?: ServerPorts | undefined;
  /** Path of the network volume's folder on this machine. */
  volumeFolder: string | undefined;
  gpuMode: GpuMode;
  network: ContainerNetwork;
}

const gigabyte = 1024 ** 3;

/**
 * The body of the engine's create call. A container accesses nothing on this machine except its volume, cannot gain privileges, and is
 * removed when it ends. Its server's ports are published on loopback if this machine cannot reach its network.
 */
export function createBody(spec: ContainerSpec, capabilities: EngineCapabilities): object {
  const { cpu, gpus, gpuMode, network, entrypoint, cmd, volumeFolder } = spec;
  const usesGpus = gpus > 0 && (gpuMode === "all" || (gpuMode === "auto" && capabilities.gpus));
  const ports = network.isDirect || !spec.serverPorts ? [] : [spec.serverPorts.port, spec.serverPorts.healthPort];
  const exposedPorts = ports.map((port) => `${port}/tcp`);
  const memory = cpu?.memoryInGb === undefined ? undefined : cpu.memoryInGb * gigabyte;
  return {
    Image: spec.image,
    Hostname: spec.workerId,
    Env: Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
    ...(entrypoint.length > 0 ? { Entrypoint: entrypoint } : {}),
    ...(cmd.length > 0 ? { Cmd: cmd } : {}),
    Labels: spec.labels,
    ExposedPorts: Object.fromEntries(exposedPorts.map((port) => [port, {}])),
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      AutoRemove: true,
      SecurityOpt: ["no-new-privileges"],
      NetworkMode: network.name,
      PortBindings: Object.fromEntries(exposedPorts.map((port) => [port, [{ HostIp: loopback, HostPort: "" }]])),
      ...(network.extraHosts.length > 0 ? { ExtraHosts: network.extraHosts } : {}),
      ...(volumeFolder === undefined
        ? {}
        : { Mounts: spec.mountPaths.map((Target) => ({ Type: "bind", Source: volumeFolder, Target })) }),
      // The service receives the output; a second copy would fill the disk.
      LogConfig: { Type: "none" },
      ...(cpu ? { NanoCpus: Math.min(cpu.vcpus, capabilities.cpus) * 1e9 } : {}),
      // MemorySwap includes the memory, so equal values disable swap.
      ...(memory === undefined ? {} : { Memory: memory, MemorySwap: memory }),
      ...(usesGpus ? { DeviceRequests: [{ Driver: "", Count: gpus, Capabilities: [["gpu"]] }] } : {}),
      ...(capabilities.diskLimit ? { StorageOpt: { size: `${spec.diskInGb}G` } } : {}),
    },
  };
}
