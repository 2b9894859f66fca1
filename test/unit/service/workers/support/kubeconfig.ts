import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { scratchFolder } from "../../../../support/folders";

/** Writes a kubeconfig with the contexts "test", in the namespace "gpu", and "other", and selects it for this test. */
export function useKubeconfig(server: string, user: object = { token: "t" }, more = ""): void {
  const file = join(scratchFolder(), "kubeconfig");
  const cluster = { name: "c", cluster: { server, "insecure-skip-tls-verify": true } };
  const contexts = [
    { name: "test", context: { cluster: "c", user: "u", namespace: "gpu" } },
    { name: "other", context: { cluster: "c", user: "u" } },
  ];
  const users = [{ name: "u", user }];
  const config = { apiVersion: "v1", kind: "Config", "current-context": "test", clusters: [cluster], contexts, users };
  writeFileSync(file, JSON.stringify(config) + more);
  vi.stubEnv("KUBECONFIG", file);
  onTestFinished(() => void vi.unstubAllEnvs());
}
