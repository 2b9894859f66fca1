import { ServiceError } from "../../../errors";
import type { ContainerNeeds } from "../../../resources/endpoint-lookup";
import { registryOf } from "../../../resources/registry-auths";
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

/** Name of the worker's container in its pod. */
export const containerName = "worker";

/** Name of a worker's pod and of its Secret, or of a volume's claim. */
export const objectName = (id: string): string => `serverless-compute-${id}`;

/** The gate that keeps a pod from being scheduled before its Secret exists. */
export const gate = "serverless-compute/secret";

/** A strategic merge patch that removes the gate, and no others, such as those of a queue for pods. */
export const openGate = { spec: { schedulingGates: [{ $patch: "delete", name: gate }] } };

const gibibytes = (count: number): string => `${count}Gi`;

/** Escapes `$` for Kubernetes, which expands $(NAME) and $$ in commands; a container engine does not. */
const literal = (word: string): string => word.replaceAll("$", () => "$$");

/** Labels that GPU feature discovery sets on the nodes of NVIDIA's GPU types. */
const labelsOf = (gpuTypeId: string) =>
  gpuTypeId.startsWith("NVIDIA ") ? { "nvidia.com/gpu.product": gpuTypeId.replaceAll(" ", "-") } : undefined;

const isOneOf = (key: string, values: string[]) => ({ key, operator: "In", values });

/** Labels of the nodes of one GPU type. Throws a ServiceError for a type without nodes. */
function nodesOf(gpuTypeId: string, { gpuNodes }: KubernetesSettings): object[] {
  const nodes = gpuNodes[gpuTypeId]?.nodeSelector ?? labelsOf(gpuTypeId);
  if (nodes) return Object.entries(nodes).map(([key, value]) => isOneOf(key, [value]));
  throw new ServiceError(
    "invalid",
    `gpuTypeIds: "${gpuTypeId}" has no nodes in the cluster; name their labels in kubernetes.gpuNodes of the seed file`,
  );
}

/** Selects the nodes of one of the GPU types, in one of the zones. */
function affinityOf({ gpuTypeIds, dataCenterIds }: ContainerNeeds, settings: KubernetesSettings): object {
  const zones = dataCenterIds.flatMap((id) => settings.zones[id] ?? []);
  const inZones = zones.length === 0 ? [] : [isOneOf("topology.kubernetes.io/zone", zones)];
  const types = gpuTypeIds.length > 0 ? gpuTypeIds.map((id) => nodesOf(id, settings)) : [[]];
  const nodeSelectorTerms = types.map((labelsOfType) => ({ matchExpressions: [...labelsOfType, ...inZones] }));
  // For Kubernetes, a term without requirements selects no nodes.
  if (nodeSelectorTerms.some(({ matchExpressions }) => matchExpressions.length === 0)) return {};
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
}

/** Owner labels of a service's objects. */
const ownerLabels = (serviceId: string): Record<string, string> => ({
  [labels.manager]: "serverless-compute-local",
  [labels.service]: serviceId,
});

/**
 * The pod of a worker. Its environment is in a Secret, never here. It cannot gain privileges, has no service account's token, and accesses
 * nothing of its node.
 */
export function podBody(
  { endpointId, workerId, configuration, environment }: WorkerStart,
  env: Record<string, string>,
  {
    serviceId,
    settings,
    serverPorts,
  }: { serviceId: string; settings: KubernetesSettings; serverPorts: ServerPorts | undefined },
): object {
  const { image, dockerArgs, container: needs } = environment;
  const name = objectName(workerId);
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
      ...affinityOf(needs, settings),
      tolerations: needs.gpuTypeIds
        .flatMap((id) => settings.gpuNodes[id]?.tolerations ?? [])
        .concat(gpus > 0 ? [{ key: settings.gpuResource, operator: "Exists", effect: "NoSchedule" }] : []),
      ...(registryAuth ? { imagePullSecrets: [{ name }] } : {}),
      securityContext: {
        seccompProfile: { type: "RuntimeDefault" },
        runAsNonRoot: isRestricted,
        runAsUser: settings.runAsUser,
        // Without a group, only root could write to a new volume.
        fsGroup: volumeId === undefined ? undefined : (settings.runAsUser ?? 1000),
        fsGroupChangePolicy: "OnRootMismatch",
      },
      containers: [
        {
          name: containerName,
          image,
          imagePullPolicy: "IfNotPresent",
          ...(entrypoint.length > 0 ? { command: entrypoint.map(literal) } : {}),
          ...(cmd.length > 0 ? { args: cmd.map(literal) } : {}),
          env: Object.keys(env).map((variable, index) => ({
            name: variable,
            valueFrom: { secretKeyRef: { name, key: String(index) } },
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
        volumeId === undefined ? [] : [{ name: "volume", persistentVolumeClaim: { claimName: objectName(volumeId) } }],
    },
  };
}

/** The Secret of a worker's pod, which Kubernetes deletes with the pod: its environment and its registry's credentials. */
export function secretBody(
  { workerId, endpointId, environment }: WorkerStart,
  env: Record<string, string>,
  { serviceId, podUid }: { serviceId: string; podUid: string },
): object {
  const name = objectName(workerId);
  const { registryAuth } = environment.container;
  // Credentials in the form of Docker's configuration file.
  const auths = registryAuth && { [registryOf(environment.image)]: registryAuth };
  return {
    apiVersion: "v1",
    kind: "Secret",
    ...(auths ? { type: "kubernetes.io/dockerconfigjson" } : {}),
    metadata: {
      name,
      labels: { ...ownerLabels(serviceId), [labels.endpoint]: endpointId },
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid: podUid }],
    },
    immutable: true,
    stringData: {
      // The keys are numbers, because a key allows fewer characters than the name of a variable.
      ...Object.values(env),
      ...(auths ? { ".dockerconfigjson": JSON.stringify({ auths }) } : {}),
    },
  };
}

const storageOf = (sizeInGb: number) => ({ resources: { requests: { storage: gibibytes(sizeInGb) } } });

/** A strategic merge patch that changes the size of a claim. */
export const sizePatch = (sizeInGb: number) => ({ spec: storageOf(sizeInGb) });

/** The claim of a network volume. */
export function claimBody(volumeId: string, sizeInGb: number, serviceId: string, settings: KubernetesSettings): object {
  const { storageClass, accessMode } = settings;
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: objectName(volumeId), labels: ownerLabels(serviceId) },
    spec: { accessModes: [accessMode], storageClassName: storageClass, ...storageOf(sizeInGb) },
  };
}
