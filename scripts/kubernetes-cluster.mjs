import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Reason why this machine cannot start the cluster of scripts/kubernetes; undefined if it can. */
export function clusterMissing() {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "a cluster needs Linux and root";
  const cache = process.env["KUBE_TEST_CACHE"] ?? join(homedir(), ".cache", "kube-test", "v1.34.4");
  const files = [join(cache, "kube"), join(cache, "pause.tar"), "/usr/lib/cni/bridge"];
  return files.every(existsSync) ? undefined : "the cluster is not built; run bash scripts/kubernetes/build.sh once";
}
