import { z } from "zod";
import { type RegistryCredentials, registryOf } from "../../../resources/registry-auths";
import type { SteadyClock } from "../../../steady-clock";
import { readLines } from "../../lines";
import { CallError } from "../json-client";
import type { EngineClient } from "./engine-client";

export type Images = ReturnType<typeof createImages>;

const progressShape = z.looseObject({
  id: z.string().optional(),
  status: z.string().optional(),
  error: z.string().optional(),
  progressDetail: z.looseObject({ current: z.number().optional(), total: z.number().optional() }).optional(),
});

/** Interval between progress reports of a pull, ms. */
const reportInterval = 2000;

/** Allowed characters of an image name; the engine validates the rest. */
const namePattern = /^[\w-][\w.:/@-]*$/;

/** Pulls missing images; calls `onPulled` with each pulled image. */
export function createImages({
  client,
  clock,
  onPulled,
  signal,
}: {
  client: EngineClient;
  clock: SteadyClock;
  onPulled(image: string): void;
  /** Aborts all pulls. */
  signal: AbortSignal;
}) {
  const pulls = new Map<string, Promise<void>>();

  async function exists(image: string): Promise<boolean> {
    try {
      await client.call("GET", `/images/${image}/json`);
      return true;
    } catch (error) {
      if (error instanceof CallError && error.status === 404) return false;
      throw error;
    }
  }

  async function pull(
    image: string,
    auth: RegistryCredentials | undefined,
    onLine: (line: string) => void,
  ): Promise<void> {
    onLine(`pulls the image ${image}`);
    // Without a tag, the engine would pull all tags.
    const fromImage = /@|:[^/:]*$/.test(image) ? image : `${image}:latest`;
    const headers = auth ? { "x-registry-auth": registryHeader(image, auth) } : {};
    try {
      const response = await client.open("POST", "/images/create", { query: { fromImage }, headers, signal });
      const progress = createPullProgress();
      let reportedAt = clock.now();
      await readLines(response, (line) => {
        progress.read(line);
        if (clock.now() - reportedAt < reportInterval) return;
        reportedAt = clock.now();
        onLine(`pulls the image ${image}: ${progress.text()}`);
      });
      if (progress.error() !== undefined) throw new CallError(500, progress.error() ?? "");
      if (signal.aborted || !response.readableEnded) throw new CallError(0, "the pull was interrupted");
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      throw new CallError(error.status, `the image "${image}" cannot be pulled: ${error.message}`, { cause: error });
    }
    onPulled(image);
    onLine(`pulled the image ${image}`);
  }

  return {
    /**
     * Pulls the image if the engine does not have it. `onLine` receives the progress. Rejects with a CallError that contains the
     * registry's message.
     */
    async ensure(image: string, auth: RegistryCredentials | undefined, onLine: (line: string) => void): Promise<void> {
      if (!namePattern.test(image) || image.includes(".."))
        throw new CallError(400, `"${image}" is not an image name; must have the form registry.example/name:tag`);
      if (await exists(image)) return;
      const key = JSON.stringify([image, auth]);
      const pendingPull = pulls.get(key);
      if (pendingPull) {
        onLine(`waits for the image ${image}, which another worker pulls`);
        return pendingPull;
      }
      const newPull = pull(image, auth, onLine).finally(() => pulls.delete(key));
      pulls.set(key, newPull);
      return newPull;
    },
  };
}

/** Progress of a pull, which the engine reports line by line. */
function createPullProgress() {
  const layers = new Map<string, { current: number; total: number; done: boolean }>();
  let error: string | undefined;
  const megabytes = (bytes: number): string => (bytes / 1024 ** 2).toFixed(0);
  return {
    read(line: string): void {
      const { data } = progressShape.safeParse(JSON.parse(line || "{}"));
      if (!data) return;
      error ??= data.error;
      const { id, status = "", progressDetail: { current = 0, total = 0 } = {} } = data;
      // Lines without a layer contain the digest or the image name.
      if (id === undefined || status.startsWith("Pulling from")) return;
      const previous = layers.get(id) ?? { current: 0, total: 0, done: false };
      const isDownload = status === "Downloading";
      const done = previous.done || status === "Pull complete" || status === "Already exists";
      layers.set(id, isDownload ? { current, total, done } : { ...previous, done });
    },
    text(): string {
      const allLayers = [...layers.values()];
      const sum = (of: (layer: (typeof allLayers)[number]) => number): number =>
        allLayers.reduce((bytes, layer) => bytes + of(layer), 0);
      const doneCount = allLayers.filter(({ done }) => done).length;
      return `${megabytes(sum(({ current }) => current))} of ${megabytes(sum(({ total }) => total))} MB, ${doneCount} of ${allLayers.length} layers done`;
    },
    error: () => error,
  };
}

/** The header with a registry's credentials for the engine; credentials never appear in queries or logs. */
const registryHeader = (image: string, credentials: RegistryCredentials): string =>
  Buffer.from(JSON.stringify({ ...credentials, serveraddress: registryOf(image) })).toString("base64url");
