import type { ContainerNeeds } from "../../resources/endpoint-lookup";
import { loopback, type ServerPorts } from "../worker-server";
import type { ContainerPlace } from "./place";

/** GPUs for workers: if the engine supports them, always, or never. */
export type GpuMode = "auto" | "all" | "none";

/** Capabilities of the engine. */
export interface EngineAbilities {
  /** CPUs of its machine. */
  cpus: number;
  gpus: boolean;
  /** True if it can limit a container's disk; unknown until it refused. */
  diskLimit: boolean;
}

/** One container, before it is put into the engine's words. */
export interface ContainerSpec extends ContainerNeeds {
  image: string;
  workerId: string;
  cmd: string[];
  env: Record<string, string>;
  labels: Record<string, string>;
  /** Ports of its server, which the service calls; undefined if it has none. */
  listens?: ServerPorts | undefined;
  /** The volume's folder on this machine. */
  volumeFolder: string | undefined;
  gpuMode: GpuMode;
  place: ContainerPlace;
}

const gigabyte = 1024 ** 3;

/**
 * The body of the engine's create call. A container has nothing of this machine but its volume, gains no privileges, and is
 * removed when it ends. The ports of its server are published on loopback if its network cannot be reached from this machine.
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
      // Its own output goes to the service; a second copy would fill the disk.
      LogConfig: { Type: "none" },
      ...(cpu ? { NanoCpus: Math.min(cpu.vcpus, abilities.cpus) * 1e9 } : {}),
      // Swap included, so that there is none beside the memory.
      ...(memory === undefined ? {} : { Memory: memory, MemorySwap: memory }),
      ...(wantsGpus ? { DeviceRequests: [{ Driver: "", Count: gpus, Capabilities: [["gpu"]] }] } : {}),
      ...(abilities.diskLimit ? { StorageOpt: { size: `${spec.diskInGb}G` } } : {}),
    },
  };
}
