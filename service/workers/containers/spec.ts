import type { ContainerNeeds } from "../../resources/endpoint-lookup";
import { loopback, type ServerPorts } from "../worker-server";
import type { ContainerPlace } from "./place";

/** GPUs for workers: if the engine supports them (`auto`), always (`all`), or never (`none`). */
export type GpuMode = "auto" | "all" | "none";

/** Capabilities of the engine. */
export interface EngineAbilities {
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
  listens?: ServerPorts | undefined;
  /** Path of the network volume's folder on this machine. */
  volumeFolder: string | undefined;
  gpuMode: GpuMode;
  place: ContainerPlace;
}

const gigabyte = 1024 ** 3;

/**
 * The body of the engine's create call. A container accesses nothing on this machine except its volume, cannot gain privileges, and is
 * removed when it ends. Its server's ports are published on loopback if this machine cannot reach its network.
 */
export function createBody(spec: ContainerSpec, abilities: EngineAbilities): object {
  const { cpu, gpus, gpuMode, place, entrypoint, cmd, volumeFolder } = spec;
  const wantsGpus = gpus > 0 && (gpuMode === "all" || (gpuMode === "auto" && abilities.gpus));
  const ports = place.isDirect || !spec.listens ? [] : [spec.listens.port, spec.listens.healthPort];
  const published = ports.map((port) => `${port}/tcp`);
  const memory = cpu?.memoryInGb === undefined ? undefined : cpu.memoryInGb * gigabyte;
  return {
    Image: spec.image,
    Hostname: spec.workerId,
    Env: Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
    ...(entrypoint.length > 0 ? { Entrypoint: entrypoint } : {}),
    ...(cmd.length > 0 ? { Cmd: cmd } : {}),
    Labels: spec.labels,
    ExposedPorts: Object.fromEntries(published.map((port) => [port, {}])),
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      AutoRemove: true,
      SecurityOpt: ["no-new-privileges"],
      NetworkMode: place.network,
      PortBindings: Object.fromEntries(published.map((port) => [port, [{ HostIp: loopback, HostPort: "" }]])),
      ...(place.extraHosts.length > 0 ? { ExtraHosts: place.extraHosts } : {}),
      ...(volumeFolder === undefined
        ? {}
        : { Mounts: spec.mountPaths.map((Target) => ({ Type: "bind", Source: volumeFolder, Target })) }),
      // The service receives the output; a second copy would fill the disk.
      LogConfig: { Type: "none" },
      ...(cpu ? { NanoCpus: Math.min(cpu.vcpus, abilities.cpus) * 1e9 } : {}),
      // MemorySwap includes the memory, so equal values disable swap.
      ...(memory === undefined ? {} : { Memory: memory, MemorySwap: memory }),
      ...(wantsGpus ? { DeviceRequests: [{ Driver: "", Count: gpus, Capabilities: [["gpu"]] }] } : {}),
      ...(abilities.diskLimit ? { StorageOpt: { size: `${spec.diskInGb}G` } } : {}),
    },
  };
}
