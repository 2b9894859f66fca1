import { describe, expect, test } from "vitest";
import type { ContainerNeeds, WorkerEnvironment } from "../../../../service/resources/endpoint-lookup";
import { kubernetesShape } from "../../../../service/workers/runtimes/pod/settings";
import { claimBody, podBody, secretBody } from "../../../../service/workers/runtimes/pod/spec";
import type { WorkerStart } from "../../../../service/workers/runtimes/runtime";
import { plainNeeds } from "./support/container-needs";

const workerOf = (needs: Partial<ContainerNeeds>, more: Partial<WorkerEnvironment> = {}): WorkerStart => ({
  endpointId: "e1",
  workerId: "w1",
  configuration: "c1",
  env: () => ({}),
  onLine: () => undefined,
  environment: {
    image: "acme/worker:1",
    dockerArgs: "",
    env: {},
    secretValues: [],
    ...more,
    container: { ...plainNeeds, ...needs },
  },
});

interface PodCase {
  needs?: Partial<ContainerNeeds>;
  settings?: object;
  dockerArgs?: string;
  env?: Record<string, string>;
  ports?: { port: number; healthPort: number };
}
const podOf = ({ needs = {}, settings = {}, dockerArgs = "", env = {}, ports }: PodCase) =>
  podBody(workerOf(needs, { dockerArgs }), env, {
    serviceId: "s1",
    settings: kubernetesShape.parse(settings),
    serverPorts: ports && { ...ports, healthPath: "/ping" },
  });

const isIn = (key: string, ...values: string[]) => ({ key, operator: "In", values });
const onNodes = (...terms: object[][]) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: terms.map((matchExpressions) => ({ matchExpressions })),
    },
  },
});
const zone = "topology.kubernetes.io/zone";
const product = "nvidia.com/gpu.product";
const gpuNodes = {
  "AMD Instinct MI300X OAM": {
    nodeSelector: { gpu: "mi300x", pool: "big" },
    tolerations: [{ key: "amd", operator: "Exists" }],
  },
};
const amd = { gpus: 1, gpuTypeIds: ["AMD Instinct MI300X OAM"] };
const volume = { volumeId: "v1", mountPaths: ["/runpod-volume", "/models"] };
const restricted = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };
const container = "containers.0";

/** A rule, its worker, and a property of the pod's specification; undefined if the pod must not have it. */
const rules: [rule: string, of: PodCase, property: string, value: unknown][] = [
  ["any node has a GPU if the endpoint has no types", { needs: { gpus: 1 } }, "affinity", undefined],
  [
    "each GPU type of NVIDIA selects the nodes with its label",
    { needs: { gpus: 1, gpuTypeIds: ["NVIDIA A40", "NVIDIA RTX A6000"] } },
    "affinity",
    onNodes([isIn(product, "NVIDIA-A40")], [isIn(product, "NVIDIA-RTX-A6000")]),
  ],
  [
    "a node must have all configured labels of a GPU type",
    { needs: amd, settings: { gpuNodes } },
    "affinity",
    onNodes([isIn("gpu", "mi300x"), isIn("pool", "big")]),
  ],
  [
    "a GPU type whose labels select all nodes does so beside another type",
    {
      needs: { gpus: 1, gpuTypeIds: ["NVIDIA A40", "NVIDIA L4"] },
      settings: { gpuNodes: { "NVIDIA L4": { nodeSelector: {} } } },
    },
    "affinity",
    undefined,
  ],
  [
    "a GPU type whose labels select all nodes does so in the zones of the data centres",
    {
      needs: { gpus: 1, gpuTypeIds: ["NVIDIA A40", "NVIDIA L4"], dataCenterIds: ["EU-RO-1"] },
      settings: { gpuNodes: { "NVIDIA L4": { nodeSelector: {} } }, zones: { "EU-RO-1": "a" } },
    },
    "affinity",
    onNodes([isIn(product, "NVIDIA-A40"), isIn(zone, "a")], [isIn(zone, "a")]),
  ],
  ["a data centre without a zone selects no nodes", { needs: { dataCenterIds: ["EU-RO-1"] } }, "affinity", undefined],
  [
    "each GPU type selects nodes in all zones of the data centres",
    {
      needs: { gpus: 1, gpuTypeIds: ["NVIDIA A40", "NVIDIA L4"], dataCenterIds: ["EU-RO-1", "EU-CZ-1", "EU-SE-1"] },
      settings: { zones: { "EU-RO-1": "a", "EU-CZ-1": "b" } },
    },
    "affinity",
    onNodes([isIn(product, "NVIDIA-A40"), isIn(zone, "a", "b")], [isIn(product, "NVIDIA-L4"), isIn(zone, "a", "b")]),
  ],
  ["a pod without GPUs tolerates no taints", {}, "tolerations", []],
  [
    "a pod with GPUs tolerates the taints of its GPU types and of the GPU resource",
    { needs: amd, settings: { gpuNodes } },
    "tolerations",
    [
      { key: "amd", operator: "Exists" },
      { key: "nvidia.com/gpu", operator: "Exists", effect: "NoSchedule" },
    ],
  ],
  ["a worker has a disk limit", {}, `${container}.resources.limits`, { "ephemeral-storage": "5Gi" }],
  [
    "a worker of a CPU endpoint has the limits of its flavour",
    { needs: { cpu: { vcpus: 2, memoryInGb: 4 } } },
    `${container}.resources.limits`,
    { "ephemeral-storage": "5Gi", cpu: "2", memory: "4Gi" },
  ],
  [
    "GPUs are requested as the configured resource",
    { needs: { gpus: 2 }, settings: { gpuResource: "acme/gpu" } },
    `${container}.resources.limits`,
    { "ephemeral-storage": "5Gi", "acme/gpu": "2" },
  ],
  ["a worker reserves no disk", {}, `${container}.resources.requests`, { "ephemeral-storage": "0" }],
  ["a worker cannot gain privileges", {}, `${container}.securityContext`, restricted],
  [
    "a worker has the container's usual capabilities in baseline pods",
    { settings: { podSecurity: "baseline" } },
    `${container}.securityContext`,
    { allowPrivilegeEscalation: false },
  ],
  ["a restricted pod does not run as root", {}, "securityContext.runAsNonRoot", true],
  ["a baseline pod may run as root", { settings: { podSecurity: "baseline" } }, "securityContext.runAsNonRoot", false],
  ["the node's seccomp profile applies", {}, "securityContext.seccompProfile", { type: "RuntimeDefault" }],
  ["a pod has no service account's token", {}, "automountServiceAccountToken", false],
  ["a pod does not learn the namespace's services", {}, "enableServiceLinks", false],
  ["a pod that ended does not restart", {}, "restartPolicy", "Never"],
  ["a pod is not scheduled before its Secret exists", {}, "schedulingGates", [{ name: "serverless-compute/secret" }]],
  ["the image provides the program", {}, `${container}.command`, undefined],
  ["the image provides the arguments", {}, `${container}.args`, undefined],
  [
    "an entrypoint replaces the image's, and Kubernetes expands nothing in it",
    { needs: { entrypoint: ["run", "$(HOME)/$(A)", "a$$b", "$HOME"] } },
    `${container}.command`,
    ["run", "$$(HOME)/$$(A)", "a$$$$b", "$$HOME"],
  ],
  [
    "start arguments are split, and Kubernetes expands nothing in them",
    { dockerArgs: "serve '$(HOME) a'" },
    `${container}.args`,
    ["serve", "$$(HOME) a"],
  ],
  [
    "variables are read from the Secret, whose keys allow fewer characters than their names",
    { env: { TOKEN: "t", "a/b c": "1" } },
    `${container}.env`,
    ["TOKEN", "a/b c"].map((name, index) => ({
      name,
      valueFrom: { secretKeyRef: { name: "serverless-compute-w1", key: String(index) } },
    })),
  ],
  ["a worker for jobs has no ports", {}, `${container}.ports`, []],
  [
    "a load balancer's worker has its two ports",
    { ports: { port: 80, healthPort: 81 } },
    `${container}.ports`,
    [{ containerPort: 80 }, { containerPort: 81 }],
  ],
  [
    "equal ports are listed once",
    { ports: { port: 80, healthPort: 80 } },
    `${container}.ports`,
    [{ containerPort: 80 }],
  ],
  ["a pod without a volume mounts none", {}, "volumes", []],
  ["a pod without a volume has no mount paths", { needs: { mountPaths: ["/m"] } }, `${container}.volumeMounts`, []],
  ["a pod without a volume has no group", {}, "securityContext.fsGroup", undefined],
  [
    "a volume is mounted at each path",
    { needs: volume },
    `${container}.volumeMounts`,
    [
      { name: "volume", mountPath: "/runpod-volume" },
      { name: "volume", mountPath: "/models" },
    ],
  ],
  [
    "a volume is a claim",
    { needs: volume },
    "volumes",
    [{ name: "volume", persistentVolumeClaim: { claimName: "serverless-compute-v1" } }],
  ],
  ["a group may write to a volume", { needs: volume }, "securityContext.fsGroup", 1000],
  [
    "the group of a volume is the worker's user",
    { needs: volume, settings: { runAsUser: 7 } },
    "securityContext.fsGroup",
    7,
  ],
  ["a public image requires no credentials", {}, "imagePullSecrets", undefined],
  [
    "a private image is pulled with the Secret",
    { needs: { registryAuth: { username: "u", password: "p" } } },
    "imagePullSecrets",
    [{ name: "serverless-compute-w1" }],
  ],
];

describe("the pod of a worker", () => {
  test.each(rules)("%s", (_rule, of, property, value) => {
    if (value === undefined) expect(podOf(of)).not.toHaveProperty(`spec.${property}`, expect.anything());
    else expect(podOf(of)).toHaveProperty(`spec.${property}`, value);
  });

  test("a GPU type without labels is rejected", () => {
    expect(() => podOf({ needs: amd })).toThrow('gpuTypeIds: "AMD Instinct MI300X OAM" has no nodes in the cluster');
  });
});

describe("the Secret of a pod", () => {
  const secretOf = (needs: Partial<ContainerNeeds>, image = "acme/worker:1") =>
    secretBody(workerOf(needs, { image }), { TOKEN: "t" }, { serviceId: "s1", podUid: "u1" });

  test("contains the environment, and ends with its pod", () => {
    expect(secretOf({})).toEqual({
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: "serverless-compute-w1",
        labels: {
          "app.kubernetes.io/managed-by": "serverless-compute-local",
          "serverless-compute/service": "s1",
          "serverless-compute/endpoint": "e1",
        },
        ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "serverless-compute-w1", uid: "u1" }],
      },
      immutable: true,
      stringData: { 0: "t" },
    });
  });

  test.each([
    ["worker", "https://index.docker.io/v1/"],
    ["acme/worker:1", "https://index.docker.io/v1/"],
    ["worker:1.2", "https://index.docker.io/v1/"],
    ["ghcr.io/acme/worker", "ghcr.io"],
    ["registry:5000/worker", "registry:5000"],
    ["localhost/worker", "localhost"],
  ])("contains the credentials of the registry of %s", (image, registry) => {
    const registryAuth = { username: "u", password: "p" };
    const config = JSON.stringify({ auths: { [registry]: registryAuth } });
    expect(secretOf({ registryAuth }, image)).toMatchObject({
      type: "kubernetes.io/dockerconfigjson",
      stringData: { 0: "t", ".dockerconfigjson": config },
    });
  });
});

test("the claim of a volume has the configured class and access mode", () => {
  const claim = (settings: object) => claimBody("v1", 20, "s1", kubernetesShape.parse(settings));
  const spec = { accessModes: ["ReadWriteMany"], resources: { requests: { storage: "20Gi" } } };
  expect(claim({})).toMatchObject({ metadata: { name: "serverless-compute-v1" }, spec });
  const one = { storageClass: "fast", accessMode: "ReadWriteOnce" };
  expect(claim(one)).toMatchObject({ spec: { storageClassName: "fast", accessModes: ["ReadWriteOnce"] } });
});
