import { scryptSync } from "node:crypto";
import { roleRules } from "./access";

/** Name of the service's own objects in a cluster. */
export const serviceName = "serverless-compute";

/** The port of the service in a cluster. */
const port = 7337;

/** Options of the objects that run the service in a cluster. */
export interface ManifestOptions {
  image: string;
  /** An existing namespace; undefined for a new one. */
  namespace?: string;
  apiKey: string;
  /** Storage class of the service's data; undefined for the cluster's default. */
  storageClass?: string;
  /** Text of a seed file; undefined without one. */
  seed?: string | undefined;
}

/** The objects that run the service in a cluster, with workers as pods of the same namespace. */
export function manifestObjects(options: ManifestOptions): object[] {
  const { image, namespace = serviceName, apiKey, storageClass, seed } = options;
  const labels = { "app.kubernetes.io/name": serviceName };
  const metadata = { name: serviceName, namespace, labels };
  const host = `${serviceName}.${namespace}.svc`;
  const hosts = [serviceName, `${serviceName}.${namespace}`, host, `${host}.cluster.local`];
  // The kubelet calls the address of the pod, which the service does not accept as a host.
  const probe = (path: string) => ({ httpGet: { path, port, httpHeaders: [{ name: "Host", value: serviceName }] } });
  // The service reads its key and its seed file at the start. The hash is slow, so that it does not reveal a weak key.
  const configuration = scryptSync(JSON.stringify([apiKey, seed]), serviceName, 16, { cost: 1024 }).toString("hex");
  return [
    // An existing namespace keeps its labels, and a deletion of these objects keeps the namespace.
    ...(options.namespace === undefined
      ? [
          {
            apiVersion: "v1",
            kind: "Namespace",
            metadata: { name: namespace, labels: { ...labels, "pod-security.kubernetes.io/enforce": "baseline" } },
          },
        ]
      : []),
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata, rules: roleRules },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: serviceName },
      subjects: [{ kind: "ServiceAccount", name: serviceName, namespace }],
    },
    { apiVersion: "v1", kind: "Secret", metadata, stringData: { apiKey } },
    ...(seed === undefined
      ? []
      : [{ apiVersion: "v1", kind: "ConfigMap", metadata, data: { "endpoints.yaml": seed } }]),
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata,
      spec: {
        accessModes: ["ReadWriteOnce"],
        storageClassName: storageClass,
        resources: { requests: { storage: "10Gi" } },
      },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: {
        replicas: 1,
        // Two services must never use the same data.
        strategy: { type: "Recreate" },
        selector: { matchLabels: labels },
        template: {
          metadata: { labels, annotations: { "checksum/configuration": configuration } },
          spec: {
            serviceAccountName: serviceName,
            enableServiceLinks: false,
            securityContext: {
              runAsNonRoot: true,
              runAsUser: 1000,
              fsGroup: 1000,
              seccompProfile: { type: "RuntimeDefault" },
            },
            containers: [
              {
                name: "service",
                image,
                command: ["node", "--max-semi-space-size=32", "serverless-compute-local", "start"],
                args: [
                  "--host=0.0.0.0",
                  "--data=/data",
                  "--runtime=kubernetes",
                  ...hosts.map((name) => `--allow-host=${name}`),
                  ...(seed === undefined ? [] : ["--seed=/seed/endpoints.yaml"]),
                ],
                env: [
                  {
                    name: "SERVERLESS_COMPUTE_LOCAL_API_KEY",
                    valueFrom: { secretKeyRef: { name: serviceName, key: "apiKey" } },
                  },
                ],
                ports: [{ containerPort: port }],
                readinessProbe: probe("/readyz"),
                startupProbe: { ...probe("/healthz"), failureThreshold: 60, periodSeconds: 2 },
                resources: { requests: { cpu: "250m", memory: "512Mi" }, limits: { memory: "2Gi" } },
                securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
                volumeMounts: [
                  { name: "data", mountPath: "/data" },
                  ...(seed === undefined ? [] : [{ name: "seed", mountPath: "/seed" }]),
                ],
              },
            ],
            volumes: [
              { name: "data", persistentVolumeClaim: { claimName: serviceName } },
              ...(seed === undefined ? [] : [{ name: "seed", configMap: { name: serviceName } }]),
            ],
          },
        },
      },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      // Workers return their last results while the service ends.
      spec: { selector: labels, ports: [{ port }], publishNotReadyAddresses: true },
    },
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: { ...metadata, name: `${serviceName}-workers` },
      spec: {
        // Workers receive requests from the service only.
        podSelector: { matchLabels: { "app.kubernetes.io/managed-by": "serverless-compute-local" } },
        ingress: [{ from: [{ podSelector: { matchLabels: labels } }] }],
      },
    },
  ];
}
