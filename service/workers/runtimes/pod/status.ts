import { z } from "zod";
import type { ContainerNeeds } from "../../../resources/endpoint-lookup";
import { endWithCode, outOfMemory, type ProgramEnd, type Waiting } from "../runtime";
import type { KubernetesSettings } from "./settings";
import { containerName, gate } from "./spec";

/** A part of a response with Kubernetes' explanation of it. */
export const explained = z.object({ reason: z.string().default(""), message: z.string().default("") });

/** The properties that are used of a pod, as the API server reports it. */
export const podShape = z.object({
  metadata: z.object({
    name: z.string(),
    uid: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
    annotations: z.record(z.string(), z.string()).default({}),
    deletionTimestamp: z.string().optional(),
  }),
  spec: z.object({
    nodeName: z.string().optional(),
    schedulingGates: z.array(z.object({ name: z.string() })).default([]),
  }),
  status: explained
    .extend({
      phase: z.string().default("Pending"),
      podIP: z.string().optional(),
      conditions: z.array(explained.extend({ type: z.string(), status: z.string() })).default([]),
      containerStatuses: z
        .array(
          z.object({
            name: z.string(),
            state: z.object({
              waiting: explained.optional(),
              running: z.object({}).optional(),
              terminated: explained.extend({ exitCode: z.number() }).optional(),
            }),
          }),
        )
        .default([]),
    })
    .prefault({}),
});

export type Pod = z.output<typeof podShape>;

/** The state of the worker's container. An admission webhook may have added others, such as a service mesh's proxy. */
const stateOf = ({ status }: Pod) => status.containerStatuses.find(({ name }) => name === containerName)?.state ?? {};

export const isRunning = (pod: Pod): boolean => stateOf(pod).running !== undefined;

/** Returns true if the pod's program has run. */
export const hasRun = (pod: Pod): boolean => {
  const { terminated } = stateOf(pod);
  return terminated !== undefined && terminated.reason !== "StartError";
};

/** Reasons of a waiting container with which no program will run, however long Kubernetes retries. */
const failures = [
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
];

/** Message of a node that has not received a pod's Secret in time; it tries again. */
const lateSecret = "failed to sync secret cache";

const failed = (description: string): ProgramEnd => ({ description, clean: false });

/** The end of a pod that Kubernetes ended, whatever the exit code of its container. */
export const endedByKubernetes = ({ reason, message }: z.output<typeof explained>): ProgramEnd =>
  failed(`was ended by Kubernetes (${reason}): ${message.trim().replace(/\.$/, "")}`);

/** Hints for messages of Kubernetes. */
const hintFor = (message: string): string =>
  /runAsNonRoot/.test(message)
    ? "; use an image with a numeric USER, or set kubernetes.runAsUser, or kubernetes.podSecurity to baseline"
    : "";

/** The end of a pod's worker; undefined while it waits or runs. */
export function endOf(pod: Pod, { cpu }: ContainerNeeds): ProgramEnd | undefined {
  const { phase, reason, message } = pod.status;
  const { waiting, terminated } = stateOf(pod);
  if (waiting && failures.includes(waiting.reason) && !waiting.message.startsWith(lateSecret)) {
    const text = waiting.message || waiting.reason;
    return failed(`could not be started: ${waiting.reason}: ${text}${hintFor(text)}`);
  }
  if (phase === "Failed" && reason !== "") return endedByKubernetes({ reason, message });
  const isDeleted = pod.metadata.deletionTimestamp !== undefined;
  // Its node may be lost, so that Kubernetes would keep it.
  if (isDeleted && !isRunning(pod) && !terminated) return deletionOf(pod);
  if (terminated?.reason === "StartError") return failed(`could not be started: ${terminated.message}`);
  if (terminated?.reason === "OOMKilled") return outOfMemory(cpu?.memoryInGb, " (OOMKilled)");
  if (!terminated) return phase === "Failed" ? failed("ended as Failed") : undefined;
  return isDeleted ? deletionOf(pod) : (evictionOf(pod) ?? endWithCode(terminated.exitCode));
}

/** The end of a pod that its node loses; undefined if it does not. */
function evictionOf({ status }: Pod): ProgramEnd | undefined {
  const disruption = status.conditions.find((one) => one.type === "DisruptionTarget" && one.status === "True");
  return disruption && failed(`was evicted from its node (${disruption.reason}): ${disruption.message}`);
}

/** The end of a pod that was deleted, but not by its service. */
export const deletionOf = (pod: Pod | undefined): ProgramEnd =>
  (pod && evictionOf(pod)) ?? failed("was deleted from the cluster");

/** Names the settings by which a node would fit, for a message of the scheduler. */
function schedulingHint(
  message: string,
  { gpuTypeIds, dataCenterIds }: ContainerNeeds,
  { zones }: KubernetesSettings,
): string {
  if (message.includes("unbound immediate PersistentVolumeClaims"))
    return "; set the storage class of network volumes, kubernetes.storageClass, or a default of the cluster";
  if (!message.includes("affinity/selector")) return "";
  const zoned = dataCenterIds.filter((id) => zones[id] !== undefined);
  const needs = [
    ...(gpuTypeIds.length > 0 ? [` of ${gpuTypeIds.join(" or ")} (labels: kubernetes.gpuNodes)`] : []),
    ...(zoned.length > 0 ? [` in ${zoned.join(" or ")} (zones: kubernetes.zones)`] : []),
  ];
  return needs.length === 0 ? "" : `; the endpoint requires nodes${needs.join("")}`;
}

/** The reason why the program of a pod with these needs does not run yet; undefined if nothing prevents it. */
export function waitingOf(pod: Pod, needs: ContainerNeeds, settings: KubernetesSettings): Waiting | undefined {
  const scheduled = pod.status.conditions.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status === "False" && scheduled.reason === "Unschedulable") {
    const text = scheduled.message
      .replace(/[.,]? *(no new claims to deallocate|preemption: ).*$/s, "")
      .replace(/\.$/, "");
    const hint = schedulingHint(text, needs, settings);
    return { lacksStock: true, reason: `no node of the cluster has room for ${pod.metadata.name}: ${text}${hint}` };
  }
  const gates = pod.spec.schedulingGates.map(({ name }) => name).filter((name) => name !== gate);
  if (gates.length > 0)
    return {
      lacksStock: false,
      reason: `the pod ${pod.metadata.name} waits: its scheduling gates have not been removed: ${gates.join(", ")}`,
    };
  const ready = pod.status.conditions.find(({ type }) => type === "Ready");
  // Without a reason, the condition comes from the controller of nodes; a container that is not ready has one.
  if (isRunning(pod) && ready?.status === "False" && ready.reason === "")
    return { lacksStock: false, reason: `the node ${pod.spec.nodeName} of ${pod.metadata.name} does not respond` };
  return undefined;
}
