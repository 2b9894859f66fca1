import { isIP } from "node:net";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Logger } from "pino";
import { z } from "zod";
import { messageOf, StartError } from "../../../errors";
import type { SteadyClock } from "../../../steady-clock";
import { reasonOf } from "../../../store/faults";
import type { ServerPorts } from "../../worker-server";
import { type Call, CallError } from "../json-client";
import type { ImageRuntime, StartRequest, Survivor, WorkerProcess, WorkerStart } from "../runtime";
import { checkAccess, toStartError } from "./access";
import { alreadyExists, loadCluster, retryPause } from "./cluster";
import { serviceName } from "./manifest";
import { openPodPlace, serviceIdOf } from "./place";
import { startPod } from "./pod";
import type { KubernetesSettings } from "./settings";
import { claimBody, labels, objectName, openGate, podBody, secretBody, sizePatch } from "./spec";
import { isRunning, type Pod, podShape } from "./status";

const podList = z.object({ metadata: z.object({ resourceVersion: z.string() }), items: z.array(podShape) });
const watchEvent = z.object({ type: z.string(), object: z.looseObject({}) });

/** Duration of a watch, s; the list after it finds what an interrupted watch may have missed. */
const watchDuration = 600;

/** Maximum time of the check that no pod remains, ms. */
const closeTimeout = 5000;

/** Runs workers as pods of a Kubernetes cluster. */
export async function createPods({
  kubernetes: settings,
  dataFolder,
  port,
  listenForWorkers,
  clock,
  log,
}: {
  kubernetes: KubernetesSettings;
  dataFolder: string;
  port: number;
  /** Listens on an address and port of this machine for workers' calls only. */
  listenForWorkers(address: string, port: number): Promise<number>;
  clock: SteadyClock;
  log: Pick<Logger, "info" | "warn">;
}) {
  const cluster = await loadCluster(settings);
  const serviceId = serviceIdOf(dataFolder);
  const labelSelector = `${labels.service}=${serviceId}`;
  const podPlace = openPodPlace(dataFolder);
  const pods = new Map<string, ReturnType<typeof startPod>>();
  const closed = new AbortController();
  let following: Promise<void> | undefined;
  if (settings.workerUrl === undefined && cluster.context !== undefined)
    throw new StartError(
      "kubernetes.workerUrl: is required outside of a cluster; specify an address of this machine at which pods reach it, such as --worker-url http://192.0.2.10:7338",
    );
  const workerUrl = settings.workerUrl?.replace(/\/$/, "") ?? `http://${serviceName}.${cluster.namespace}.svc:${port}`;

  /** If the address is one of this machine, without TLS, listens there for workers only; otherwise something forwards it to the service. */
  async function listen(): Promise<Record<string, string>> {
    const { context, displayUrl, namespace } = cluster;
    const url = new URL(workerUrl);
    const address = url.hostname.replace(/^\[|\]$/g, "");
    const urlPort = Number(url.port) || 80;
    let isForwarded = url.protocol === "https:" || isIP(address) === 0;
    if (!isForwarded)
      await listenForWorkers(address, urlPort).catch((error: NodeJS.ErrnoException) => {
        isForwarded = error.code === "EADDRNOTAVAIL";
        // The service itself listens there.
        if (isForwarded || (error.code === "EADDRINUSE" && urlPort === port)) return;
        throw new StartError(
          `kubernetes.workerUrl: ${workerUrl} cannot be used: ${error.message}; specify another port`,
        );
      });
    // All pods of an earlier service are adopted or removed now, except those elsewhere.
    following = follow();
    const place = `the namespace ${namespace} of ${displayUrl}`;
    const remains = podPlace.remains(place);
    podPlace.set(place);
    const forwarding = isForwarded && context !== undefined ? "   forward it to this service" : "";
    return {
      cluster: context === undefined ? displayUrl : `${displayUrl}   context ${context}`,
      namespace,
      address: `${workerUrl}${forwarding}`,
      ...remains,
    };
  }

  const list = async (call: Call = {}) =>
    podList.parse(await cluster.call("GET", cluster.path("pods"), { query: { labelSelector }, ...call }));

  /** Applies the state of a pod, or removes it if it has no worker. */
  function update(pod: Pod): void {
    const { name, deletionTimestamp } = pod.metadata;
    const worker = pods.get(name);
    if (worker) worker.update(pod);
    else if (deletionTimestamp === undefined)
      cluster
        .call("DELETE", cluster.path(`pods/${name}`), { body: { gracePeriodSeconds: 1 }, accepts: 404 })
        .catch((error: unknown) => log.warn({ pod: name }, `a pod of an earlier service remains: ${messageOf(error)}`));
  }
  /** Ends the worker of a deleted pod. If its creation still creates the pod again, that pod has no worker. */
  function remove(name: string): void {
    pods.get(name)?.removed();
    pods.delete(name);
  }

  /** Follows the pods from a version on; resolves when the watch has ended. */
  async function watch(resourceVersion: string): Promise<void> {
    const query = { labelSelector, watch: "1", resourceVersion, timeoutSeconds: String(watchDuration) };
    const over = new AbortController();
    // A proxy may keep the connection, also without a response, although the API server is gone.
    const end = () => over.abort();
    clock.sleep((watchDuration + 30) * 1000, over.signal).then(end, () => undefined);
    const signal = AbortSignal.any([closed.signal, over.signal]);
    let stream: Readable | undefined;
    try {
      stream = await cluster.open("GET", cluster.path("pods"), { query, signal });
      for await (const line of createInterface({ input: stream })) {
        const { type, object } = watchEvent.parse(JSON.parse(line));
        if (type === "ERROR") return;
        const pod = podShape.parse(object);
        if (type === "DELETED") remove(pod.metadata.name);
        else update(pod);
      }
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof z.ZodError)
        throw new Error(`${cluster.displayUrl} sent an invalid event: ${reasonOf(error)}`, { cause: error });
      throw error instanceof CallError ? error : cluster.interruption(error);
    } finally {
      // A later error of the connection would be unhandled.
      stream?.destroy();
      end();
    }
  }

  /** Follows the pods until the service stops. A watch ends whenever the API server does, and never resumes by itself. */
  async function follow(): Promise<void> {
    let isAway = false;
    while (!closed.signal.aborted) {
      try {
        // A pod that is created meanwhile may not be listed.
        const known = new Map([...pods].filter(([, worker]) => worker.isKnown()));
        const { items, metadata } = await list();
        isAway = false;
        for (const pod of items) update(pod);
        for (const { metadata: listed } of items) known.delete(listed.name);
        for (const name of known.keys()) remove(name);
        await watch(metadata.resourceVersion);
      } catch (error) {
        if (closed.signal.aborted) return;
        if (!isAway) log.warn(messageOf(error));
        isAway = true;
      }
      await clock.sleep(retryPause, closed.signal).catch(() => undefined);
    }
  }

  /** Creates a claim, a pod and its Secret. The pod starts once its Secret exists. Repeatable after a lost response. */
  async function create(
    call: typeof cluster.call,
    worker: WorkerStart,
    env: Record<string, string>,
    body: object,
  ): Promise<Pod> {
    const { volumeId, volumeSizeInGb } = worker.environment.container;
    const path = cluster.path(`pods/${objectName(worker.workerId)}`);
    const headers = { "content-type": "application/strategic-merge-patch+json" };
    const ensure = (kind: string, body: object) =>
      call("POST", cluster.path(kind), { body }).catch((error: unknown) => {
        if (!(error instanceof CallError && alreadyExists(error))) throw error;
      });
    if (volumeId !== undefined) {
      const name = objectName(volumeId);
      await ensure("persistentvolumeclaims", claimBody(volumeId, volumeSizeInGb, serviceId, settings));
      // The volume may be larger now than its claim.
      const size = { body: sizePatch(volumeSizeInGb), headers };
      await call("PATCH", cluster.path(`persistentvolumeclaims/${name}`), size).catch((error: unknown) => {
        if (!(error instanceof CallError && [403, 422].includes(error.status))) throw error;
        worker.onLine(`the claim ${name} keeps its size: ${error.message}`);
      });
    }
    await ensure("pods", body);
    const { metadata } = podShape.parse(await call("GET", path));
    await ensure("secrets", secretBody(worker, env, { serviceId, podUid: metadata.uid }));
    return podShape.parse(await call("PATCH", path, { body: openGate, headers }));
  }

  function start(worker: WorkerStart, serverPorts: ServerPorts | undefined, adopted?: Pod): WorkerProcess {
    const name = objectName(worker.workerId);
    const env = worker.env(workerUrl, serverPorts);
    // Throws for a GPU type without nodes, before anything is created.
    const body = podBody(worker, env, { serviceId, settings, serverPorts });
    const createPod = adopted ? undefined : (call: typeof cluster.call) => create(call, worker, env, body);
    const process = startPod({ cluster, settings, worker, create: createPod, serverPorts, workerUrl, clock });
    if (adopted) process.update(adopted);
    pods.set(name, process);
    void process.ended.then(() => pods.delete(name));
    return process;
  }

  const survivorOf = (pod: Pod): Survivor => ({
    endpointId: pod.metadata.labels[labels.endpoint] ?? "",
    workerId: pod.metadata.labels[labels.worker] ?? "",
    configuration: pod.metadata.annotations[labels.configuration] ?? "",
    adopt: (worker, serverPorts) => start(worker, serverPorts, pod),
  });

  return {
    async open() {
      try {
        await checkAccess(cluster, settings.storageClass);
        const { items } = await list();
        const running = items.filter((pod) => isRunning(pod) && pod.metadata.deletionTimestamp === undefined);
        return { earlierEnded: Promise.resolve(), survivors: running.map(survivorOf) };
      } catch (error) {
        throw toStartError(error, cluster);
      }
    },

    listen,

    prepare: ({ serverPorts }: StartRequest) => ({ start: (worker: WorkerStart) => start(worker, serverPorts) }),

    /** Deletes the claim of a volume, unless another service created it: the volumes of a copied data folder have the same ids. */
    async removeVolume(volumeId: string): Promise<void> {
      const name = objectName(volumeId);
      const path = cluster.path(`persistentvolumeclaims/${name}`);
      const test = { op: "test", path: `/metadata/labels/${labels.service.replace("/", "~1")}`, value: serviceId };
      const headers = { "content-type": "application/json-patch+json" };
      await cluster.call("PATCH", path, { body: [test], headers, accepts: 404 }).catch((error: unknown) => {
        if (!(error instanceof CallError && error.status === 422)) throw error;
        throw new Error(`the claim ${name} belongs to another service; delete it once no service uses it`);
      });
      await cluster.call("DELETE", path, { accepts: 404 });
    },

    // The nodes remove images that they no longer need.
    removeUnusedImages: async () => undefined,

    async close(): Promise<void> {
      closed.abort();
      for (const worker of pods.values()) worker.leave();
      await following;
      if (!following) return;
      const { items } = await list({ signal: AbortSignal.timeout(closeTimeout) });
      if (items.length === 0) podPlace.clear();
    },
  } satisfies ImageRuntime;
}
