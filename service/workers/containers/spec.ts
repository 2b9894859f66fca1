import type { ContainerNeeds } from "../../resources/endpoint-lookup";
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
  /** The volume's folder on this machine. */
  volumeFolder: string | undefined;
  gpuMode: GpuMode;
  place: ContainerPlace;
}

const gigabyte = 1024 ** 3;

/**
 * The body of the engine's create call. A container has nothing of this machine but its volume, gains no privileges, and is
 * removed when it ends. No port of it is published.
 */
export function createBody(spec: ContainerSpec, abilities: EngineAbilities): object {
  const { cpu, gpus, gpuMode, place, entrypoint, cmd, volumeFolder } = spec;
  const wantsGpus = gpus > 0 && (gpuMode === "all" || (gpuMode === "auto" && abilities.gpus));
  const memory = cpu?.memoryInGb === undefined ? undefined : cpu.memoryInGb * gigabyte;
  return {
    Image: spec.image,
    Hostname: spec.workerId,
    Env: Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
    ...(entrypoint.length > 0 ? { Entrypoint: entrypoint } : {}),
    ...(cmd.length > 0 ? { Cmd: cmd } : {}),
    Labels: spec.labels,
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      AutoRemove: true,
      SecurityOpt: ["no-new-privileges"],
      NetworkMode: place.network,
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
