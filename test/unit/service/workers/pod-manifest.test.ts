import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { manifestObjects } from "../../../../service/workers/runtimes/pod/manifest";

type Options = Partial<Parameters<typeof manifestObjects>[0]>;

/** The objects of a manifest by kind, in the existing namespace "gpu" or another one. */
function objectsOf(options: Options): Record<string, unknown> {
  const ownOptions = { image: "acme/service:1", namespace: "gpu", apiKey: "key", seed: undefined };
  const objects = manifestObjects({ ...ownOptions, ...options });
  return Object.fromEntries(objects.map((one) => ["kind" in one ? String(one.kind) : "", one]));
}
const podSpec = "Deployment.spec.template.spec";
const container = `${podSpec}.containers.0`;
const own = { "app.kubernetes.io/name": "serverless-compute" };
const seed = "endpoints: {}\n";

/** A rule, the options of the manifest, and a property of its objects; undefined if they must not have it. */
const rules: [string, Options, property: string, value: unknown][] = [
  ["an existing namespace remains unchanged", {}, "Namespace", undefined],
  ["all objects are in the namespace", {}, "Deployment.metadata.namespace", "gpu"],
  ["the role is bound to the service's account", {}, "RoleBinding.roleRef.name", "serverless-compute"],
  [
    "the account is that of the namespace",
    {},
    "RoleBinding.subjects",
    [{ kind: "ServiceAccount", name: "serverless-compute", namespace: "gpu" }],
  ],
  ["the key is in a Secret", {}, "Secret.stringData", { apiKey: "key" }],
  [
    "the service reads the key from the Secret",
    {},
    `${container}.env.0.valueFrom.secretKeyRef`,
    { name: "serverless-compute", key: "apiKey" },
  ],
  ["the cluster's storage class is the default", {}, "PersistentVolumeClaim.spec.storageClassName", undefined],
  ["a storage class can be chosen", { storageClass: "fast" }, "PersistentVolumeClaim.spec.storageClassName", "fast"],
  ["two services never use the same data", {}, "Deployment.spec.strategy", { type: "Recreate" }],
  ["one service runs", {}, "Deployment.spec.replicas", 1],
  ["the service does not run as root", {}, `${podSpec}.securityContext.runAsNonRoot`, true],
  [
    "the service gains no privileges",
    {},
    `${container}.securityContext`,
    { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
  ],
  ["the service accepts its names as hosts, and no seed file", {}, `${container}.args`, argsOf()],
  ["the service accepts the seed file", { seed }, `${container}.args`, [...argsOf(), "--seed=/seed/endpoints.yaml"]],
  ["the seed file is a ConfigMap", { seed }, "ConfigMap.data", { "endpoints.yaml": seed }],
  ["without a seed file there is no ConfigMap", {}, "ConfigMap", undefined],
  ["the data is mounted", {}, `${container}.volumeMounts`, [{ name: "data", mountPath: "/data" }]],
  [
    "the seed file is mounted",
    { seed },
    `${container}.volumeMounts`,
    [
      { name: "data", mountPath: "/data" },
      { name: "seed", mountPath: "/seed" },
    ],
  ],
  ["the data is the claim", {}, `${podSpec}.volumes`, [claim()]],
  [
    "the seed file is a volume",
    { seed },
    `${podSpec}.volumes`,
    [claim(), { name: "seed", configMap: { name: "serverless-compute" } }],
  ],
  [
    "the service gets requests once it is ready",
    {},
    `${container}.readinessProbe.httpGet`,
    { path: "/readyz", port: 7337, httpHeaders: [{ name: "Host", value: "serverless-compute" }] },
  ],
  [
    "the service is restarted if it does not start",
    {},
    `${container}.startupProbe.httpGet`,
    { path: "/healthz", port: 7337, httpHeaders: [{ name: "Host", value: "serverless-compute" }] },
  ],
  ["the Service leads to the service's pod", {}, "Service.spec.selector", own],
  ["the Service has the service's port", {}, "Service.spec.ports", [{ port: 7337 }]],
  ["workers reach a service that ends", {}, "Service.spec.publishNotReadyAddresses", true],
  ["the pod has the labels of the Service", {}, "Deployment.spec.template.metadata.labels", own],
  [
    "only the service can call workers",
    {},
    "NetworkPolicy.spec",
    {
      podSelector: { matchLabels: { "app.kubernetes.io/managed-by": "serverless-compute-local" } },
      ingress: [{ from: [{ podSelector: { matchLabels: own } }] }],
    },
  ],
];

test("a new namespace has the service's name, and its pods meet the baseline", () => {
  const objects = manifestObjects({ image: "acme/service:1", apiKey: "key", seed: undefined });
  const labels = { ...own, "pod-security.kubernetes.io/enforce": "baseline" };
  expect(objects[0]).toMatchObject({ kind: "Namespace", metadata: { name: "serverless-compute", labels } });
  for (const one of objects.slice(1)) expect(one).toMatchObject({ metadata: { namespace: "serverless-compute" } });
});

test("the service is restarted if its key or its seed file has changed, and not otherwise", () => {
  const versions: Options[] = [{}, { apiKey: "another key" }, { seed }, { seed: `${seed}# changed` }];
  for (const before of versions)
    for (const after of versions) {
      const deployments = [before, after].map((options) => objectsOf(options)["Deployment"]);
      expect(isDeepStrictEqual(deployments[0], deployments[1])).toBe(before === after);
    }
});

test.each(rules)("%s", (_rule, options, property, value) => {
  if (value === undefined) expect(objectsOf(options)).not.toHaveProperty(property, expect.anything());
  else expect(objectsOf(options)).toHaveProperty(property, value);
});

function argsOf(): string[] {
  const hosts = ["", ".gpu", ".gpu.svc", ".gpu.svc.cluster.local"].map(
    (end) => `--allow-host=serverless-compute${end}`,
  );
  return ["--host=0.0.0.0", "--data=/data", "--runtime=kubernetes", ...hosts];
}
function claim(): object {
  return { name: "data", persistentVolumeClaim: { claimName: "serverless-compute" } };
}
