import { ServiceError } from "../../../errors";
import type { ContainerNeeds } from "../../../resources/endpoint-lookup";
import { splitCommandLine } from "../../command-line";
import type { ServerPorts } from "../../worker-server";
import type { WorkerStart } from "../runtime";
import type { KubernetesSettings } from "./settings";

/** Labels and annotations of all objects that a service creates in a cluster. */
export const labels = {
  manager: "app.kubernetes.io/managed-by",
  /** The service that owns the object, by the id in its data folder. */
  service: "serverless-compute/service",
  endpoint: "serverless-compute/endpoint",
  worker: "serverless-compute/worker",
  /** A hash of all that the worker was started with. */
  configuration: "serverless-compute/configuration",
} as const;

/** Value of the label `manager`. */
export const manager = "serverless-compute-local";

/** Name of a worker's pod and of its Secret. */
export const podName = (workerId: string): string => `serverless-compute-${workerId}`;

/** Name of a volume's claim. */
export const claimName = (volumeId: string): string => `serverless-compute-${volumeId}`;

/** Key of the registry's credentials in a Secret. */
const dockerConfig = ".dockerconfigjson";

/** The gate that keeps a pod from being scheduled before its Secret exists. */
const gate = "serverless-compute/secret";

/** A merge patch that removes the gate. */
export const openGate = { spec: { schedulingGates: null } };

const gibibytes = (count: number): string => `${count}Gi`;

/** Kubernetes expands $(NAME) in commands, which a container engine does not. */
const literal = (word: string): string => word.replaceAll("$(", "$$(");

/** Label of nodes, and its values, that GPU feature discovery sets. */
const productLabel = "nvidia.com/gpu.product";
const productOf = (gpuTypeId: string): string => gpuTypeId.replaceAll(" ", "-");

interface NodeTerm {
  matchExpressions: { key: string; operator: "In"; values: string[] }[];
}

/** The nodes of one of the GPU types, each as a term; none for any type. Throws a ServiceError for a type without nodes. */
function gpuTerms({ gpus, gpuTypeIds }: ContainerNeeds, { gpuNodes }: KubernetesSettings): NodeTerm[] {
  if (gpus === 0) return [];
  return gpuTypeIds.map((id) => {
    const nodes =
      gpuNodes[id]?.nodeSelector ?? (id.startsWith("NVIDIA ") ? { [productLabel]: productOf(id) } : undefined);
    if (nodes) {
      const expressions = Object.entries(nodes).map(([key, value]) => ({
        key,
        operator: "In" as const,
        values: [value],
      }));
      return { matchExpressions: expressions };
    }
    throw new ServiceError(
      "invalid",
      `gpuTypeIds: "${id}" has no nodes in the cluster; name their labels in kubernetes.gpuNodes of the seed file`,
    );
  });
}

function affinityOf(needs: ContainerNeeds, settings: KubernetesSettings): object {
  const zones = needs.dataCenterIds.flatMap((id) => settings.zones[id] ?? []);
  const zone = { key: "topology.kubernetes.io/zone", operator: "In" as const, values: zones };
  const terms = gpuTerms(needs, settings);
  const zoned =
    zones.length === 0
      ? terms
      : (terms.length > 0 ? terms : [{ matchExpressions: [] }]).map(({ matchExpressions }) => ({
          matchExpressions: [...matchExpressions, zone],
        }));
  const nodeSelectorTerms = zoned.filter(({ matchExpressions }) => matchExpressions.length > 0);
  if (nodeSelectorTerms.length === 0) return {};
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
}

/** Owner labels of a service's objects. */
export const ownerLabels = (serviceId: string): Record<string, string> => ({
  [labels.manager]: manager,
  [labels.service]: serviceId,
});

/**
 * The pod of a worker. Its environment is in a Secret, never here. It cannot gain privileges, has no service account's token, and accesses
 * nothing of its node.
 */
export function podBody(
  { endpointId, workerId, configuration, environment }: WorkerStart,
  variables: string[],
  {
    serviceId,
    settings,
    serverPorts,
  }: { serviceId: string; settings: KubernetesSettings; serverPorts: ServerPorts | undefined },
): object {
  const { image, dockerArgs, container: needs } = environment;
  const name = podName(workerId);
  const { cpu, gpus, entrypoint, volumeId, mountPaths, registryAuth, diskInGb } = needs;
  const cmd = splitCommandLine(dockerArgs);
  const ports = [...new Set(serverPorts ? [serverPorts.port, serverPorts.healthPort] : [])];
  const isRestricted = settings.podSecurity === "restricted";
  const limits = {
    "ephemeral-storage": gibibytes(diskInGb),
    ...(cpu ? { cpu: String(cpu.vcpus), memory: gibibytes(cpu.memoryInGb) } : {}),
    ...(gpus > 0 ? { [settings.gpuResource]: String(gpus) } : {}),
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      labels: { ...ownerLabels(serviceId), [labels.endpoint]: endpointId, [labels.worker]: workerId },
      annotations: { [labels.configuration]: configuration },
    },
    spec: {
      schedulingGates: [{ name: gate }],
      restartPolicy: "Never",
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      // A kill must not wait for the default of 30 s.
      terminationGracePeriodSeconds: 5,
      ...(settings.dnsPolicy === undefined ? {} : { dnsPolicy: settings.dnsPolicy }),
      ...affinityOf(needs, settings),
      tolerations: needs.gpuTypeIds
        .flatMap((id) => settings.gpuNodes[id]?.tolerations ?? [])
        .concat(gpus > 0 ? [{ key: settings.gpuResource, operator: "Exists", effect: "NoSchedule" }] : []),
      ...(registryAuth ? { imagePullSecrets: [{ name }] } : {}),
      securityContext: {
        seccompProfile: { type: "RuntimeDefault" },
        ...(isRestricted ? { runAsNonRoot: true } : {}),
        ...(settings.runAsUser === undefined ? {} : { runAsUser: settings.runAsUser }),
        // Without a group, only root could write to a new volume.
        ...(volumeId === undefined
          ? {}
          : { fsGroup: settings.runAsUser ?? 1000, fsGroupChangePolicy: "OnRootMismatch" }),
      },
      containers: [
        {
          name: "worker",
          image,
          imagePullPolicy: "IfNotPresent",
          ...(entrypoint.length > 0 ? { command: entrypoint.map(literal) } : {}),
          ...(cmd.length > 0 ? { args: cmd.map(literal) } : {}),
          env: variables.map((variable) => ({
            name: variable,
            valueFrom: { secretKeyRef: { name, key: variable } },
          })),
          ports: ports.map((containerPort) => ({ containerPort })),
          resources: { limits, requests: { "ephemeral-storage": "0" } },
          securityContext: {
            allowPrivilegeEscalation: false,
            ...(isRestricted ? { capabilities: { drop: ["ALL"] } } : {}),
          },
          volumeMounts: volumeId === undefined ? [] : mountPaths.map((mountPath) => ({ name: "volume", mountPath })),
        },
      ],
      volumes:
        volumeId === undefined ? [] : [{ name: "volume", persistentVolumeClaim: { claimName: claimName(volumeId) } }],
    },
  };
}

/** The Secret of a worker's pod, which Kubernetes deletes with the pod: its environment and its registry's credentials. */
export function secretBody(
  { workerId, endpointId, environment }: WorkerStart,
  env: Record<string, string>,
  { serviceId, podUid }: { serviceId: string; podUid: string },
): object {
  const name = podName(workerId);
  const { image, container } = environment;
  const { registryAuth } = container;
  return {
    apiVersion: "v1",
    kind: "Secret",
    ...(registryAuth ? { type: "kubernetes.io/dockerconfigjson" } : {}),
    metadata: {
      name,
      labels: { ...ownerLabels(serviceId), [labels.endpoint]: endpointId },
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid: podUid }],
    },
    immutable: true,
    stringData: { ...env, ...(registryAuth ? { [dockerConfig]: registryConfig(image, registryAuth) } : {}) },
  };
}

/** Credentials in the form of Docker's configuration file. */
function registryConfig(image: string, { username, password }: { username: string; password: string }): string {
  const [host = ""] = image.split("/");
  const isRegistry = image.includes("/") && (/[.:]/.test(host) || host === "localhost");
  const auth = Buffer.from(`${username}:${password}`).toString("base64");
  return JSON.stringify({
    auths: { [isRegistry ? host : "https://index.docker.io/v1/"]: { username, password, auth } },
  });
}

/** The claim of a network volume. */
export function claimBody(volumeId: string, sizeInGb: number, serviceId: string, settings: KubernetesSettings): object {
  const { storageClass: storageClassName, accessMode } = settings;
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: claimName(volumeId), labels: ownerLabels(serviceId) },
    spec: {
      accessModes: [accessMode],
      ...(storageClassName === undefined ? {} : { storageClassName }),
      resources: { requests: { storage: gibibytes(sizeInGb) } },
    },
  };
}
