import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { clusterMissing } from "../../scripts/kubernetes-cluster.mjs";
import { type Cluster, loadCluster } from "../../service/workers/runtimes/pod/cluster";
import { kubernetesShape } from "../../service/workers/runtimes/pod/settings";
import { withNodeFolder } from "../docker/images";
import { runChecked } from "../support/run-checked";

/** A real cluster for the tests, or the reason for its absence. */
export type TestCluster =
  | {
      kubeconfig: string;
      /** Folder and first port of the cluster, for its script. */
      folder: string;
      port: number;
      /** Images of this Node and the programs of test/docker: for user 1000, and for root. */
      image: string;
      rootImage: string;
      /** Archive of `image`. */
      archive: string;
      /** Address of this machine that pods reach. */
      address: string;
    }
  | { missing: string };

declare module "vitest" {
  interface ProvidedContext {
    cluster: TestCluster;
  }
}

const scripts = fileURLToPath(new URL("../../scripts/kubernetes", import.meta.url));

/** Runs a command of the cluster's script. Pods reach the API, too. A started cluster stops when the process `owner` has ended. */
export function runCluster(port: number, args: string[], owner = process.pid): Promise<string> {
  const variables = [`PORT=${port}`, "API_ADDRESS=bridge", `OWNER=${owner}`];
  return runChecked("env", [...variables, "bash", join(scripts, "cluster.sh"), ...args]);
}

/** Writes an image archive of a folder with a command. */
export const makeImage = (
  root: string,
  name: string,
  archive: string,
  settings: { IMAGE_USER: string; IMAGE_FOLDER?: string },
  command: string[],
): Promise<string> => {
  const variables = Object.entries(settings).map((pair) => pair.join("="));
  return runChecked("env", [...variables, "bash", join(scripts, "oci-image.sh"), root, name, archive, ...command]);
};

/** Sets the number of GPUs of the node. The scheduler counts them, and workers get nothing. */
export async function setGpus(admin: Cluster, count: number): Promise<void> {
  const gpus = { "nvidia.com/gpu": String(count) };
  const body = { status: { capacity: gpus, allocatable: gpus } };
  await admin.call("PATCH", "/api/v1/nodes/127.0.0.1/status", {
    body,
    headers: { "content-type": "application/merge-patch+json" },
  });
}

/** Labels the node as NVIDIA's GPU feature discovery does. */
async function labelGpus(admin: Cluster, product: string): Promise<void> {
  const body = { metadata: { labels: { "nvidia.com/gpu.product": product } } };
  await admin.call("PATCH", "/api/v1/nodes/127.0.0.1", {
    body,
    headers: { "content-type": "application/merge-patch+json" },
  });
}

/** Starts a cluster of its own, which the end removes. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const missing = clusterMissing();
  if (missing !== undefined) {
    project.provide("cluster", { missing });
    return undefined;
  }
  const folder = await mkdtemp(join(tmpdir(), "kubernetes-"));
  const port = 26_000 + (process.pid % 200) * 4;
  const [image, rootImage] = ["localhost/worker:1", "localhost/root-worker:1"];
  const [archive, rootArchive] = [join(folder, "worker.tar"), join(folder, "root-worker.tar")];
  const kubeconfig = (await runCluster(port, ["start", folder])).trim();
  await withNodeFolder(async (root) => {
    const make = (user: string, name: string, file: string) =>
      makeImage(root, name, file, { IMAGE_USER: user }, ["node", "/programs/worker.mjs"]);
    await make("1000", image, archive);
    await make("", rootImage, rootArchive);
  });
  await runCluster(port, ["import", folder, archive, rootArchive]);
  const address = `10.89.${port % 256}.1`;
  process.env["KUBECONFIG"] = kubeconfig;
  const admin = await loadCluster(kubernetesShape.parse({}));
  await setGpus(admin, 30);
  await labelGpus(admin, "NVIDIA-L4");
  project.provide("cluster", { kubeconfig, folder, port, image, rootImage, archive, address });
  return async () => {
    await runCluster(port, ["stop", folder]);
  };
}
