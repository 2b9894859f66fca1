import type { Logger } from "pino";
import type { SteadyClock } from "../../steady-clock";
import { commandOf } from "../handler-files";
import { createContainers } from "./container/containers";
import type { EngineAddress } from "./container/engine-address";
import { openContainerMark } from "./container/removal";
import type { GpuMode } from "./container/spec";
import { openPodPlace } from "./pod/place";
import type { KubernetesSettings } from "./pod/settings";
import { createProcesses } from "./process/processes";
import type { ImageRuntime, Runtime } from "./runtime";

/** Settings of the runtimes. */
export interface RuntimeSettings {
  dataFolder: string;
  /** Image name → command line or handler file. */
  images: Record<string, string>;
  runtime: RuntimeName;
  gpus: GpuMode;
  kubernetes: KubernetesSettings;
  port: number;
  /** Address of the Docker Engine; throws an Error with the reason if it is unknown. */
  engine(): EngineAddress;
}

/** All runtimes of images without a command. */
export const runtimeNames = ["auto", "docker", "kubernetes", "none"] as const;

/** Runtime of images without a command. */
export type RuntimeName = (typeof runtimeNames)[number];

const inContainers = {
  puller: "a container",
  otherImages: "a container pulls the image if a Docker Engine is available; --runtime none prevents it",
};

/** Pullers of images without a command, and the treatment of images without an endpoint. */
const imageRuntimes: Record<RuntimeName, { puller: string | undefined; otherImages: string }> = {
  auto: inContainers,
  docker: inContainers,
  kubernetes: { puller: "a pod", otherImages: "a pod of the cluster pulls the image" },
  none: { puller: undefined, otherImages: "no worker starts" },
};

/** Returns the puller of images without a command, for messages; undefined if none are pulled. */
export const pullerOf = (runtime: RuntimeName): string | undefined => imageRuntimes[runtime].puller;

/** Returns what happens to images that no endpoint uses yet, for messages. */
export const otherImagesText = (runtime: RuntimeName): string => imageRuntimes[runtime].otherImages;

/** Runs an image with a command on this machine as a process, and any other image by the runtime of the settings. */
export function createRuntimes(
  settings: RuntimeSettings,
  deps: {
    clock: SteadyClock;
    log: Pick<Logger, "info" | "warn" | "error">;
    /** Root of the job API without a trailing slash; called once the server listens. */
    serverlessUrl(): string;
    /** Listens on another address of this machine for workers' calls only; resolves with the port. */
    listenForWorkers(address: string, port?: number): Promise<number>;
  },
): Runtime {
  const { dataFolder, images, gpus: gpuMode, engine: address } = settings;
  const { clock, log, listenForWorkers } = deps;
  const processes = createProcesses({ images, dataFolder, clock, serverlessUrl: deps.serverlessUrl });
  const containers = createContainers({
    address,
    dataFolder,
    gpuMode,
    listen: listenForWorkers,
    clock,
    log,
    isRequired: settings.runtime === "docker",
    withoutEngine: processes.prepare,
  });
  let imageRuntime: ImageRuntime | undefined = settings.runtime === "none" ? undefined : containers;
  /** Facts about the workers that a killed service with another runtime may have left, which this one does not end. */
  const remains = (): Record<string, string> => ({
    ...(imageRuntime !== containers &&
      openContainerMark(dataFolder).isSet() && {
        containers: 'may remain of an earlier start; after a stop, "serverless-compute-local prune" removes them',
      }),
    ...(settings.runtime !== "kubernetes" && openPodPlace(dataFolder).remains()),
  });

  return {
    async open() {
      // Loaded only if used, because its package is optional.
      if (settings.runtime === "kubernetes")
        imageRuntime = await (await import("./pod/pods.js")).createPods({ ...settings, ...deps });
      const opened = await imageRuntime?.open();
      return {
        earlierEnded: Promise.all([processes.earlierEnded(), opened?.earlierEnded]).then(() => undefined),
        survivors: opened?.survivors ?? [],
      };
    },

    listen: async () => ({ ...remains(), ...(await imageRuntime?.listen()) }),

    prepare(request) {
      // A command on this machine takes precedence over the image.
      if (!imageRuntime || request.program || commandOf(images, request.image) !== undefined)
        return processes.prepare(request);
      return imageRuntime.prepare(request);
    },

    removeEndpoint: processes.removeEndpoint,
    // Without a runtime of images, the folders of volumes from an earlier start may exist.
    removeVolume: (volumeId) => (imageRuntime ?? containers).removeVolume(volumeId),
    removeUnusedImages: async (inUse) => imageRuntime?.removeUnusedImages(inUse),

    async close() {
      await processes.close();
      await imageRuntime
        ?.close()
        .catch((error: unknown) => log.error({ err: error }, "workers: not all could be removed"));
    },
  };
}
