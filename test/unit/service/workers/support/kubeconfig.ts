import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { scratchFolder } from "../../../../support/folders";

/** A kubeconfig of a server with the contexts "test", in the namespace "gpu", and "other". */
export function kubeconfigOf(server: string, user: object = { token: "t" }) {
  return {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "test",
    clusters: [{ name: "c", cluster: { server, "insecure-skip-tls-verify": true } }],
    contexts: [
      { name: "test", context: { cluster: "c", user: "u", namespace: "gpu" } },
      { name: "other", context: { cluster: "c", user: "u" } },
    ],
    users: [{ name: "u", user }],
  };
}

/** Writes kubeconfigs, and selects them for this test. */
export function useKubeconfigs(...texts: string[]): void {
  const files = texts.map((text) => {
    const file = join(scratchFolder(), "kubeconfig");
    writeFileSync(file, text);
    return file;
  });
  vi.stubEnv("KUBECONFIG", files.join(delimiter));
  onTestFinished(() => void vi.unstubAllEnvs());
}

/** Selects the kubeconfig of a server for this test. */
export const useKubeconfig = (server: string, user?: object): void =>
  useKubeconfigs(JSON.stringify(kubeconfigOf(server, user)));
