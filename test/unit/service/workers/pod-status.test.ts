import { describe, expect, test } from "vitest";
import { kubernetesShape } from "../../../../service/workers/runtimes/pod/settings";
import {
  deletionOf,
  endOf,
  hasRun,
  isRunning,
  type Pod,
  podShape,
  waitingOf,
} from "../../../../service/workers/runtimes/pod/status";
import { plainNeeds as needs } from "./support/container-needs";

/** A pod as the API server reports it, with a status and the states of its containers. */
const podWith = (status: object, states: Record<string, object>) =>
  podShape.parse({
    metadata: { name: "pod-1", uid: "u" },
    spec: { nodeName: "node-1" },
    status: { ...status, containerStatuses: Object.entries(states).map(([name, state]) => ({ name, state })) },
  });
const podOf = (status: object, worker?: object) => podWith(status, worker ? { worker } : {});
const terminated = (exitCode: number, more: object = {}) => ({ terminated: { exitCode, ...more } });
const disruption = (status: string) => ({
  conditions: [
    { type: "Ready", status: "True" },
    { type: "DisruptionTarget", status, reason: "EvictionByEvictionAPI", message: "the node drains" },
  ],
});
const eviction = "was evicted from its node (EvictionByEvictionAPI): the node drains";

describe("the end of a pod", () => {
  const ends: [name: string, pod: Pod, description: string | undefined][] = [
    ["none without a status", podShape.parse({ metadata: { name: "p", uid: "u" }, spec: {} }), undefined],
    ["none while its container starts", podOf({}, { waiting: { reason: "ContainerCreating" } }), undefined],
    ["none while its program runs", podOf({ phase: "Running" }, { running: {} }), undefined],
    ["none if only a reason is reported", podOf({ phase: "Running", reason: "NodeLost" }, { running: {} }), undefined],
    [
      "none while its node waits for its Secret",
      podOf(
        {},
        {
          waiting: {
            reason: "CreateContainerConfigError",
            message: "failed to sync secret cache: timed out waiting for the condition",
          },
        },
      ),
      undefined,
    ],
    ...["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError", "RunContainerError"].map(
      (reason): [string, Pod, string] => [
        reason,
        podOf({}, { waiting: { reason } }),
        `could not be started: ${reason}: ${reason}`,
      ],
    ),
    [
      "the message of Kubernetes",
      podOf({}, { waiting: { reason: "CreateContainerError", message: "no such file" } }),
      "could not be started: CreateContainerError: no such file",
    ],
    [
      "the settings for an image of root",
      podOf({}, { waiting: { reason: "CreateContainerConfigError", message: "container has runAsNonRoot" } }),
      "could not be started: CreateContainerConfigError: container has runAsNonRoot; use an image with a numeric USER, or set kubernetes.runAsUser, or kubernetes.podSecurity to baseline",
    ],
    [
      "the reason of Kubernetes instead of the exit code",
      podOf({ phase: "Failed", reason: "Evicted", message: " The node had. no disk. " }, terminated(0)),
      "was ended by Kubernetes (Evicted): The node had. no disk",
    ],
    [
      "a program that does not exist",
      podOf({ phase: "Failed" }, terminated(128, { reason: "StartError", message: "no such program" })),
      "could not be started: no such program",
    ],
    [
      "a lack of memory",
      podOf({ phase: "Failed" }, terminated(137, { reason: "OOMKilled" })),
      "ran out of memory and was killed (OOMKilled)",
    ],
    ["a failure without a state", podOf({ phase: "Failed" }), "ended as Failed"],
    ["an eviction instead of the exit code", podOf(disruption("True"), terminated(143)), eviction],
    ["no eviction that was revoked", podOf(disruption("False"), terminated(1)), "ended with exit code 1"],
    ...[0, 143].map((code): [string, Pod, string] => {
      const { metadata, ...pod } = podOf({ phase: "Running" }, terminated(code));
      const deleted = { ...pod, metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
      return [`a deletion by others instead of exit code ${code}`, deleted, "was deleted from the cluster"];
    }),
    ...[undefined, { waiting: { reason: "ContainerCreating" } }].map((state): [string, Pod, string] => {
      const { metadata, ...pod } = podOf(disruption("True"), state);
      const deleted = { ...pod, metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
      return ["the eviction from a node that has not started it", deleted, eviction];
    }),
    ["an exit code", podOf({ phase: "Failed" }, terminated(128)), "ended with exit code 128"],
    ["a signal", podOf({ phase: "Failed" }, terminated(129)), "ended with exit code 129 (signal 1)"],
    ["the last signal", podOf({ phase: "Failed" }, terminated(159)), "ended with exit code 159 (signal 31)"],
    ["no signal", podOf({ phase: "Failed" }, terminated(160)), "ended with exit code 160"],
  ];
  test.each(ends)("%s", (_name, pod, description) => {
    expect(endOf(pod, needs)).toEqual(description && { description, clean: false });
  });

  test("is clean only with exit code 0", () => {
    expect(endOf(podOf({ phase: "Succeeded" }, terminated(0)), needs)).toEqual({
      description: "ended with exit code 0",
      clean: true,
    });
  });

  test("names the memory of the CPU flavour that was exceeded", () => {
    const end = endOf(podOf({ phase: "Failed" }, terminated(137, { reason: "OOMKilled" })), {
      ...needs,
      cpu: { vcpus: 2, memoryInGb: 4 },
    });
    expect(end?.description).toBe("ran out of its 4 GB of memory and was killed (OOMKilled)");
  });

  test("of a deleted pod is its eviction, or its deletion", () => {
    expect(deletionOf(podOf(disruption("True")))).toEqual({ description: eviction, clean: false });
    for (const pod of [undefined, podOf({}), podOf(disruption("False"))])
      expect(deletionOf(pod)).toEqual({ description: "was deleted from the cluster", clean: false });
  });
});

describe("the reason why a pod waits", () => {
  const unscheduled = (message: string, more: object = {}) =>
    podOf({ conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message, ...more }] });
  const noRoom = "no node of the cluster has room for pod-1: 0/1 nodes are available: ";
  const selector = "1 node(s) didn't match Pod's node affinity/selector";
  const settings = kubernetesShape.parse({ zones: { "EU-RO-1": "a", "EU-CZ-1": "b" } });
  const gpuTypeIds = ["NVIDIA A40", "NVIDIA L4"];

  test.each([
    ["the resource that is missing, without its full stop", "1 Insufficient cpu.", {}, "1 Insufficient cpu"],
    ["no text about preemption", "1 Insufficient cpu. preemption: 0/1 nodes\nare available.", {}, "1 Insufficient cpu"],
    ["no text about claims", "1 Insufficient cpu, no new claims to deallocate, and more.", {}, "1 Insufficient cpu"],
    [
      "the setting of the storage class",
      "pod has unbound immediate PersistentVolumeClaims.",
      {},
      "pod has unbound immediate PersistentVolumeClaims; set the storage class of network volumes, kubernetes.storageClass, or a default of the cluster",
    ],
    [
      "the GPU types",
      selector,
      { gpuTypeIds },
      `${selector}; the endpoint requires nodes of NVIDIA A40 or NVIDIA L4 (labels: kubernetes.gpuNodes)`,
    ],
    [
      "the data centres with a zone",
      selector,
      { dataCenterIds: ["EU-RO-1", "EU-SE-1", "EU-CZ-1"] },
      `${selector}; the endpoint requires nodes in EU-RO-1 or EU-CZ-1 (zones: kubernetes.zones)`,
    ],
    [
      "the GPU types and the data centres",
      selector,
      { gpuTypeIds: ["NVIDIA L4"], dataCenterIds: ["EU-RO-1"] },
      `${selector}; the endpoint requires nodes of NVIDIA L4 (labels: kubernetes.gpuNodes) in EU-RO-1 (zones: kubernetes.zones)`,
    ],
    ["no data centre without a zone", selector, { dataCenterIds: ["EU-SE-1"] }, selector],
    ["no labels if the endpoint requires none", selector, {}, selector],
    ["no labels if another resource is missing", "1 Insufficient cpu", { gpuTypeIds }, "1 Insufficient cpu"],
  ])("contains %s", (_name, message, more, text) => {
    expect(waitingOf(unscheduled(`0/1 nodes are available: ${message}`), { ...needs, ...more }, settings)).toEqual({
      lacksStock: true,
      reason: `${noRoom}${text}`,
    });
  });

  test("is a scheduling gate of another program", () => {
    const gated = (...names: string[]) =>
      podShape.parse({
        metadata: { name: "pod-1", uid: "u" },
        spec: { schedulingGates: ["serverless-compute/secret", ...names].map((name) => ({ name })) },
      });
    expect(waitingOf(gated(), needs, settings)).toBeUndefined();
    expect(waitingOf(gated("queue.test/admission", "b"), needs, settings)).toEqual({
      lacksStock: false,
      reason: "the pod pod-1 waits: its scheduling gates have not been removed: queue.test/admission, b",
    });
  });

  test("is a node that does not respond, once the program runs", () => {
    const lost = { conditions: [{ type: "Ready", status: "False" }] };
    expect(waitingOf(podOf(lost, { running: {} }), needs, settings)).toEqual({
      lacksStock: false,
      reason: "the node node-1 of pod-1 does not respond",
    });
  });

  test.each([
    ["nothing is reported", podOf({})],
    ["the pod is scheduled", unscheduled("", { status: "True" })],
    ["its Secret does not exist yet", unscheduled("", { reason: "SchedulingGated" })],
    ["its program has not started", podOf({ conditions: [{ type: "Ready", status: "False" }] })],
    [
      "another container is not ready",
      podOf({ conditions: [{ type: "Ready", status: "False", reason: "ContainersNotReady" }] }, { running: {} }),
    ],
    ["its program is ready", podOf({ conditions: [{ type: "Ready", status: "True" }] }, { running: {} })],
  ])("is unknown if %s", (_name, pod) => {
    expect(waitingOf(pod, needs, settings)).toBeUndefined();
  });
});

test("a program has run once it has ended, unless it could not be started", () => {
  const states: [object, boolean, boolean][] = [
    [{ waiting: { reason: "ContainerCreating" } }, false, false],
    [{ running: {} }, true, false],
    [terminated(1), false, true],
    [terminated(128, { reason: "StartError" }), false, false],
  ];
  for (const [state, running, run] of states) {
    const pod = podOf({}, state);
    expect([isRunning(pod), hasRun(pod)]).toEqual([running, run]);
  }
});

test("only the state of the worker's container counts, also beside another one that the cluster added", () => {
  const proxies = [{ running: {} }, terminated(1), { waiting: { reason: "ErrImagePull" } }];
  const states = [{ running: {} }, terminated(3), { waiting: { reason: "ContainerCreating" } }];
  for (const proxy of proxies)
    for (const worker of states) {
      const [pod, alone] = [podWith({}, { "a-proxy": proxy, worker }), podOf({}, worker)];
      expect([isRunning(pod), hasRun(pod)]).toEqual([isRunning(alone), hasRun(alone)]);
      expect(endOf(pod, needs)).toEqual(endOf(alone, needs));
    }
});
