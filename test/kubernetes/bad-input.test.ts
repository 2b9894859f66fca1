import { createService, type ServiceOptions } from "serverless-compute-local";
import { expect, test } from "vitest";
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
      `^runtime "kubernetes": ${admin.displayUrl} rejects the credentials \\(Unauthorized\\); renew them or select another context$`,
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
