import { z } from "zod";
import { deferred } from "../../../deferred";
import { messageOf } from "../../../errors";
import type { SteadyClock } from "../../../steady-clock";
import { createLastLines } from "../../lines";
import type { ServerPorts, WorkerServer } from "../../worker-server";
import { CallError } from "../json-client";
import type { Location, ProcessEnd, ProgramEnd, Waiting, WorkerStart } from "../runtime";
import { type Cluster, isTemporary, lacksQuota, retryPause, waitReasonOf } from "./cluster";
import { followLog } from "./log";
import type { KubernetesSettings } from "./settings";
import { objectName } from "./spec";
import { deletionOf, endedByKubernetes, endOf, explained, hasRun, isRunning, type Pod, waitingOf } from "./status";

interface PodStart {
  cluster: Cluster;
  settings: KubernetesSettings;
  worker: WorkerStart;
  /** Creates the pod and all that it needs, by repeatable calls. Undefined for a pod that exists. */
  create: ((call: Cluster["call"]) => Promise<Pod>) | undefined;
  serverPorts: ServerPorts | undefined;
  /** Address at which the pod reaches the service. */
  workerUrl: string;
  clock: SteadyClock;
}

/** Time beyond the grace period after which a pod is removed without its node, ms. */
const forceAfter = 8_000;
/** Time after which a pod that could not be deleted counts as ended; the next list of pods deletes it. */
const giveUpAfter = 30_000;
/** Maximum wait for the remaining output of an ended pod, ms. */
const outputTimeout = 2_000;
/** Time after which the events of a pod are read that waits for no known reason, and then again, ms. */
const eventInterval = 15_000;
/** Maximum pause before a rejected call is sent again, ms. */
const maxRetryPause = 15_000;
/** Time after its start after which a worker without a call is reported, ms. */
const silenceLimit = 20_000;

const eventList = z.object({
  items: z.array(
    explained.extend({
      lastTimestamp: z
        .string()
        .nullish()
        .transform((time) => time ?? ""),
    }),
  ),
});

/** Returns true for a reason that no event explains further, as it does for a volume's claim. */
const isComplete = (known: Waiting | undefined): boolean =>
  known !== undefined && !known.reason.includes("PersistentVolumeClaim");

/** Runs a worker as a pod, which is deleted when it ends. */
export function startPod({ cluster, settings, worker, create, serverPorts, workerUrl, clock }: PodStart) {
  const { workerId, environment, onLine } = worker;
  const { container: needs } = environment;
  const { volumeId } = needs;
  const name = objectName(workerId);
  const path = cluster.path(`pods/${name}`);
  const lastLines = createLastLines(onLine);
  const ended = new AbortController();
  /** Aborts when the pod is to be deleted, or has ended. */
  const unwanted = new AbortController();
  const outputClosed = new AbortController();
  let pod: Pod | undefined;
  /** The reason why the API server has not accepted the last call. */
  let callProblem: Waiting | undefined;
  /** The reason by the newest event. */
  let explanation: Waiting | undefined;
  /** The end that the pod reported itself. */
  let reportedEnd: ProgramEnd | undefined;
  /** Grace period of the deletion, s; undefined before one. */
  let deletion: number | undefined;
  let startedAt: number | undefined;
  let output: Promise<void> | undefined;
  const end = deferred<ProcessEnd>();
  const server = deferred<WorkerServer>();
  const started = deferred();

  const pause = (ms: number): Promise<void> => clock.sleep(ms, ended.signal).catch(() => undefined);
  const outputEnd = (): Promise<void> => Promise.race([output, clock.sleep(outputTimeout)]);

  async function finish(description: ProgramEnd): Promise<void> {
    if (ended.signal.aborted) return;
    ended.abort();
    unwanted.abort();
    await outputEnd();
    outputClosed.abort();
    end.resolve({ ...description, lastErrors: lastLines.lines });
  }

  /** Sends a call until the API server accepts or rejects it, or the signal aborts. */
  async function persist(signal: AbortSignal, ...call: Parameters<Cluster["call"]>): Promise<unknown> {
    for (let wait = retryPause; ; wait = Math.min(2 * wait, maxRetryPause)) {
      try {
        const response = await cluster.call(...call);
        callProblem = undefined;
        return response;
      } catch (error) {
        callProblem = undefined;
        if (signal.aborted || !isTemporary(error)) throw error;
        callProblem = { reason: waitReasonOf(error, cluster.displayUrl), lacksStock: lacksQuota(error) };
        await clock.sleep(wait, signal).catch(() => {
          throw error;
        });
      }
    }
  }

  /** Sends a call of the pod's creation, unless the pod is unwanted. */
  const sendCreation: Cluster["call"] = async (...call) => {
    unwanted.signal.throwIfAborted();
    return persist(unwanted.signal, ...call);
  };

  /** Deletes the pod: its program gets SIGTERM, and SIGKILL after `grace` seconds. */
  async function remove(grace: number): Promise<void> {
    if (deletion !== undefined && deletion <= grace) return;
    deletion = grace;
    unwanted.abort();
    // A pod that is being created would remain.
    await Promise.race([creation, pause(giveUpAfter)]);
    const late = new AbortController();
    void pause(giveUpAfter).then(() => late.abort());
    const send = (gracePeriodSeconds: number) => persist(late.signal, "DELETE", path, { body: { gracePeriodSeconds } });
    try {
      await send(grace);
      await pause(grace * 1000 + forceAfter);
      // The node does not respond, so Kubernetes would keep the pod until it does.
      if (!ended.signal.aborted) await send(0);
      await pause(forceAfter);
    } catch (error) {
      const isGone = ended.signal.aborted || (error instanceof CallError && error.status === 404);
      if (!isGone) onLine(`pod ${name}: ${messageOf(error)}`);
    }
    await finish(endOfDeleted());
  }

  const endOfDeleted = (): ProgramEnd =>
    reportedEnd ??
    (deletion === undefined ? deletionOf(pod) : { description: "was stopped by the service", clean: false });

  /** The newest event about an object that the selector matches; undefined if none is known. */
  async function eventOf(object: string, selector = "") {
    const query = { fieldSelector: `involvedObject.name=${object}${selector}` };
    const events = await cluster.call("GET", cluster.path("events"), { query }).catch(() => undefined);
    const items = eventList.safeParse(events).data?.items ?? [];
    // Events of the scheduler lack the time; the pod's status contains its reason. Warnings about DNS are repeated and delay nothing.
    const reasons = items.filter(({ lastTimestamp, reason }) => lastTimestamp !== "" && !reason.includes("DNS"));
    return reasons.sort((a, b) => b.lastTimestamp.localeCompare(a.lastTimestamp))[0];
  }

  /** The reason why the pod waits by the events of its node or of its claim, which its status often lacks. */
  async function explain({ spec: { nodeName } }: Pod, known: Waiting | undefined): Promise<Waiting | undefined> {
    const claim = volumeId === undefined ? undefined : objectName(volumeId);
    const event = await (nodeName !== undefined ? eventOf(name) : claim && eventOf(claim, ",type=Warning"));
    if (!event && known) return undefined;
    const unknown =
      nodeName === undefined ? "no scheduler has placed it yet" : `the node ${nodeName} has not started it`;
    const reason = event ? `${event.reason}: ${event.message}` : unknown;
    return { reason: `the pod ${name} waits: ${reason}`, lacksStock: known?.lacksStock ?? false };
  }

  /** Looks for the reason why the pod waits: a volume, a network, a large image. */
  async function explainWait(): Promise<void> {
    for (;;) {
      await pause(eventInterval);
      if (ended.signal.aborted || startedAt !== undefined) return;
      const known = pod && waitingOf(pod, needs, settings);
      // Its claim was deleted after its creation.
      if (known && /persistentvolumeclaim "/.test(known.reason)) {
        creation = create?.(sendCreation).catch(() => undefined);
        await creation;
      }
      explanation = pod && !isComplete(known) ? await explain(pod, known) : undefined;
    }
  }

  function update(state: Pod): void {
    if (ended.signal.aborted) return;
    pod = state;
    if ((isRunning(state) || hasRun(state)) && startedAt === undefined) {
      startedAt = clock.now();
      onLine(`runs in the pod ${name} on the node ${state.spec.nodeName}`);
      output = followLog({
        cluster,
        path,
        clock,
        onLine: lastLines.addOutput,
        onProblem: (reason) => onLine(`the log of the pod ${name} cannot be read: ${reason}`),
        hasEnded: () => ended.signal.aborted || (pod !== undefined && hasRun(pod)),
        signal: outputClosed.signal,
        since: create ? 0 : startedAt,
      });
      started.resolve();
    }
    const { podIP } = state.status;
    if (serverPorts && podIP !== undefined && isRunning(state)) server.resolve({ ...serverPorts, host: podIP });
    const podEnd = endOf(state, needs);
    // A deleted pod ends when it is gone, so that its node's resources are free.
    if (!podEnd || deletion !== undefined || reportedEnd) return;
    reportedEnd = podEnd;
    void outputEnd().then(async () => {
      // A program that ends itself on SIGTERM hides the reason of its eviction, of which Kubernetes reports an event first.
      const eviction = hasRun(state) ? await eventOf(name, ",reason=Evicted") : undefined;
      if (eviction) reportedEnd = endedByKubernetes(eviction);
      await remove(0);
    });
  }

  function waiting(): Waiting | undefined {
    const known = pod && waitingOf(pod, needs, settings);
    if (isComplete(known)) return known;
    if (startedAt === undefined) return callProblem ?? explanation ?? known;
    if (clock.now() - startedAt < silenceLimit) return undefined;
    const seconds = Math.round((clock.now() - startedAt) / 1000);
    return { lacksStock: false, reason: `${workerId} has run for ${seconds} s; ${silence()}` };
  }
  const silence = (): string =>
    `no request from its pod ${name} arrived at ${workerUrl}; check that pods reach this address (--worker-url), and that its program takes jobs`;

  function location(): Location {
    const phase = pod?.metadata.deletionTimestamp === undefined ? (pod?.status.phase ?? "Pending") : "Terminating";
    return { pod: name, node: pod?.spec.nodeName, phase };
  }

  /** Creates the pod. Its state is known from then on, because it may be deleted before a watch reports it. */
  async function createPod(): Promise<void> {
    try {
      const created = await create?.(sendCreation);
      pod ??= created;
    } catch (error) {
      if (unwanted.signal.aborted) return;
      reportedEnd = { description: `could not be started: ${messageOf(error)}`, clean: false };
      void remove(0);
    }
  }

  void explainWait();
  let creation: Promise<unknown> | undefined = createPod();

  return {
    channel: undefined,
    ended: end.promise,
    ...(create ? { started: started.promise } : {}),
    server: serverPorts && server.promise,
    waiting,
    location,
    obstacle: () => (startedAt === undefined ? undefined : silence()),
    kill: () => void remove(1),
    stop: (grace: number) => void remove(Math.max(1, Math.ceil(grace / 1000))),
    /** Receives each state of the pod. */
    update,
    /** Receives the deletion of the pod by others, or by the service. */
    removed: () => void finish(endOfDeleted()),
    /** Leaves the pod to the next service. */
    leave(): void {
      ended.abort();
      unwanted.abort();
      outputClosed.abort();
    },
    /** Returns true once the pod is created or reported. */
    isKnown: () => pod !== undefined,
  };
}
