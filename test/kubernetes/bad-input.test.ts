import { createService, type ServiceOptions } from "serverless-compute-local";
import { expect, test } from "vitest";
import { kubernetesShape } from "../../service/workers/runtimes/pod/settings";
import { serviceFolder } from "../support/folders";
import { changedConfig, useAccount, useCluster, useNamespace } from "./rig";

/** The error of a start; the test fails if the service starts. */
async function startError(kubernetes: ServiceOptions["kubernetes"], kubeconfig: string | undefined): Promise<string> {
  const before = process.env["KUBECONFIG"];
  if (kubeconfig !== undefined) process.env["KUBECONFIG"] = kubeconfig;
  const options: ServiceOptions = { port: 0, dataFolder: serviceFolder(), runtime: "kubernetes" };
  const started = createService({ ...options, kubernetes: { workerUrl: "http://127.0.0.1:7399", ...kubernetes } });
  try {
    await (await started).stop(0);
    return "the service started";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    process.env["KUBECONFIG"] = before;
  }
}

test("each mistake in the cluster's options ends the start with one sentence", async (context) => {
  const { kubeconfig, admin } = await useCluster(context);
  const change = (pattern: RegExp, text: string) =>
    changedConfig(kubeconfig, (config) => config.replace(pattern, text));
  const empty = await changedConfig(kubeconfig, () => "{}");
  expect(await startError({}, empty)).toMatch(
    /^runtime "kubernetes": .*(there is no cluster|kubeconfig cannot be read)/,
  );
  const silent = await change(/server: "[^"]*"/, 'server: "https://127.0.0.1:9"');
  expect(await startError({}, silent)).toMatch(
    /^runtime "kubernetes": the Kubernetes API at https:\/\/127\.0\.0\.1:9 does not respond: .*ECONNREFUSED.*; check the cluster and the context$/,
  );
  expect(await startError({ context: "prod" }, undefined)).toBe(
    'kubernetes.context: "prod" does not exist in the kubeconfig; must be one of test',
  );
  const expired = await change(/token: \w+/, "token: expired");
  expect(await startError({}, expired)).toMatch(
    new RegExp(
      `^runtime "kubernetes": the credentials for ${admin.displayUrl} cannot be used \\(Unauthorized\\); renew them or select another context$`,
    ),
  );
  const unread = await change(/token: (\w+)/, "tokenFile: /var/run/token");
  expect(await startError({}, unread)).toMatch(
    new RegExp(
      `^runtime "kubernetes": the kubeconfig has no credentials for ${admin.displayUrl} \\(.*\\); add a token, a client certificate or exec to the user of the context; tokenFile is not read$`,
    ),
  );
  expect(await startError({ namespace: "no-such-namespace" }, undefined)).toBe(
    'kubernetes.namespace: "no-such-namespace" does not exist; create it or specify another one',
  );
  expect(await startError({ storageClass: "fast" }, undefined)).toBe(
    'kubernetes.storageClass: "fast" does not exist in the cluster; create it or specify another one',
  );
  expect(await startError({ workerUrl: "not a url" }, undefined)).toMatch(
    /^kubernetes\.workerUrl: "not a url" is not allowed/,
  );
});

test("a role without a verb ends the start with the verb and the rule", async (context) => {
  const { kubeconfig, admin } = await useCluster(context);
  const namespace = await useNamespace(admin);
  const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch", "patch", "delete"] }];
  const account = await useAccount(admin, kubeconfig, namespace, rules);
  expect(await startError({ namespace }, account.kubeconfig)).toBe(
    `runtime "kubernetes": the credentials do not allow to create pods in the namespace "${namespace}"; add this rule to their Role: {"apiGroups":[""],"resources":["pods"],"verbs":["create","get","list","watch","patch","delete"]}`,
  );
});

/** Texts at the limits of the API server's names, labels and resources. */
const texts = [
  "",
  "a",
  "1",
  "A",
  "-",
  "-a",
  "a-",
  "a.b",
  "a..b",
  ".a",
  "a_b",
  "a b",
  "ä",
  "a\n",
  "a/b",
  "a/",
  "/b",
  "a/b/c",
  "A/b",
  "a/B",
  "a/-b",
  "a.b/c.d",
  "nvidia.com/gpu",
  "a$",
  "a".repeat(63),
  "a".repeat(64),
  "a".repeat(253),
  "a".repeat(254),
  `${"a".repeat(253)}/b`,
  `${"a".repeat(254)}/b`,
  `a/${"b".repeat(63)}`,
  `a/${"b".repeat(64)}`,
];
const tolerations = ["key", "operator", "value", "effect", "tolerationSeconds"].reduce<Record<string, unknown>[]>(
  (partial, name) => {
    const values = { key: ["a"], operator: ["Exists", "Equal"], value: ["b"], effect: ["NoExecute", "NoSchedule"] }[
      name
    ];
    return partial.flatMap((one) => [one, ...(values ?? [5]).map((value) => ({ ...one, [name]: value }))]);
  },
  [{}],
);

test("the settings accept exactly what the API server accepts", async (context) => {
  const { admin } = await useCluster(context);
  const namespace = await useNamespace(admin);
  const isAccepted = (path: string, body: object): Promise<boolean> =>
    admin.call("POST", path, { query: { dryRun: "All" }, body }).then(
      () => true,
      () => false,
    );
  const isPod = (spec: object, container: object = {}): Promise<boolean> => {
    const containers = [{ name: "a", image: "a", ...container }];
    return isAccepted(`/api/v1/namespaces/${namespace}/pods`, {
      metadata: { name: "a" },
      spec: { containers, ...spec },
    });
  };
  const gpuNodes = (of: object) => ({ gpuNodes: { "NVIDIA L4": of } });
  const isIn = (key: string, value: string) => {
    const nodeSelectorTerms = [{ matchExpressions: [{ key, operator: "In", values: [value] }] }];
    return isPod({
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
    });
  };
  const classes = "/apis/storage.k8s.io/v1/storageclasses";
  const rows: [setting: (text: string) => object, accepted: (text: string) => Promise<boolean>][] = [
    [(name) => ({ namespace: name }), (name) => isAccepted("/api/v1/namespaces", { metadata: { name } })],
    [(name) => ({ storageClass: name }), (name) => isAccepted(classes, { metadata: { name }, provisioner: "a" })],
    [(name) => ({ gpuResource: name }), (name) => isPod({}, { resources: { limits: { [name]: "1" } } })],
    [(name) => gpuNodes({ nodeSelector: { [name]: "a" } }), (name) => isIn(name, "a")],
    [(value) => gpuNodes({ nodeSelector: { a: value } }), (value) => isIn("a", value)],
    [(value) => ({ zones: { "EU-RO-1": value } }), (value) => isIn("a", value)],
    [
      (key) => gpuNodes({ tolerations: [{ key, operator: "Exists" }] }),
      // An empty key means any key; the settings require no key instead.
      async (key) => key !== "" && isPod({ tolerations: [{ key, operator: "Exists" }] }),
    ],
    [
      (value) => gpuNodes({ tolerations: [{ key: "a", value }] }),
      (value) => isPod({ tolerations: [{ key: "a", value }] }),
    ],
  ];
  const differences: unknown[] = [];
  const compare = async (setting: object, accepted: Promise<boolean>) => {
    if (kubernetesShape.safeParse(setting).success !== (await accepted)) differences.push(setting);
  };
  for (const [setting, accepted] of rows) for (const text of texts) await compare(setting(text), accepted(text));
  for (const toleration of tolerations)
    await compare(gpuNodes({ tolerations: [toleration] }), isPod({ tolerations: [toleration] }));
  expect(differences).toEqual([]);
});
