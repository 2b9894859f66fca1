import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { StartError } from "../../../../service/errors";
import { loadCluster } from "../../../../service/workers/runtimes/pod/cluster";
import { kubernetesShape } from "../../../../service/workers/runtimes/pod/settings";
import { scratchFolder } from "../../../support/folders";
import { kubeconfigOf, useKubeconfig, useKubeconfigs } from "./support/kubeconfig";

describe("the cluster is that of", () => {
  test.each([
    ["the current context", {}, "test", "gpu"],
    ["a context", { context: "other" }, "other", "default"],
    ["a namespace", { context: "test", namespace: "own" }, "test", "own"],
  ])("%s", async (_name, settings, context, namespace) => {
    useKubeconfig("http://127.0.0.1:9");
    const cluster = await loadCluster(kubernetesShape.parse(settings));
    expect(cluster).toMatchObject({ context, namespace });
    expect(cluster.path("pods")).toBe(`/api/v1/namespaces/${namespace}/pods`);
  });

  test("the first kubeconfig's context, as for kubectl", async () => {
    const second = {
      clusters: [{ name: "c2", cluster: { server: "http://127.0.0.1:9" } }],
      contexts: [{ name: "third", context: { cluster: "c2", user: "u" } }],
      "current-context": "third",
    };
    useKubeconfigs(JSON.stringify(kubeconfigOf("http://127.0.0.1:8")), JSON.stringify(second));
    const load = async (settings: object) => loadCluster(kubernetesShape.parse(settings));
    expect(await load({})).toMatchObject({ context: "test", displayUrl: "http://127.0.0.1:8" });
    expect(await load({ context: "third" })).toMatchObject({ context: "third", displayUrl: "http://127.0.0.1:9" });
  });

  const whole = kubeconfigOf("http://127.0.0.1:9");
  const mistakes: [mistake: string, config: object, settings: object, message: string][] = [
    [
      "does not exist",
      whole,
      { context: "prod" },
      '"prod" does not exist in the kubeconfig; must be one of test, other',
    ],
    [
      "is not selected",
      { ...whole, "current-context": undefined },
      {},
      "the kubeconfig has no current context; must be one of test, other",
    ],
    [
      "was deleted",
      { ...whole, "current-context": "old" },
      {},
      '"old" does not exist in the kubeconfig; must be one of test, other',
    ],
    ...[{ clusters: [] }, { users: [] }].map((lack): [string, object, object, string] => [
      `lacks its ${Object.keys(lack).join()}`,
      { ...whole, ...lack },
      {},
      'the kubeconfig lacks the cluster "c" or the user "u" of "test"; add it, or select another context',
    ]),
  ];
  test.each(mistakes)("no context that %s", async (_what, config, settings, message) => {
    useKubeconfigs(JSON.stringify(config));
    const loading = loadCluster(kubernetesShape.parse(settings));
    await expect(loading).rejects.toThrow(new StartError(`kubernetes.context: ${message}`));
  });

  test("no kubeconfig that cannot be read", async () => {
    useKubeconfigs("{}}");
    await expect(loadCluster(kubernetesShape.parse({}))).rejects.toThrow(
      /^runtime "kubernetes": the kubeconfig cannot be read: .*; correct the file that KUBECONFIG names$/s,
    );
  });

  test("no machine without a kubeconfig", async () => {
    vi.stubEnv("KUBECONFIG", join(scratchFolder(), "missing"));
    vi.stubEnv("HOME", scratchFolder());
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(loadCluster(kubernetesShape.parse({}))).rejects.toThrow(/there is no cluster|cannot be read/);
  });
});
