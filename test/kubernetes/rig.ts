import { randomUUID } from "node:crypto";
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClients } from "serverless-compute-api";
import type { ServiceOptions } from "serverless-compute-local";
import { expect, inject, onTestFinished, type TestContext } from "vitest";
import { z } from "zod";
import { type Cluster, loadCluster } from "../../service/workers/runtimes/pod/cluster";
import { kubernetesShape } from "../../service/workers/runtimes/pod/settings";
import { podShape } from "../../service/workers/runtimes/pod/status";
import { createEndpoint } from "../docker/rig";
import { scratchFolder } from "../support/folders";
import { serviceDefaults, useLocalService } from "../support/local-service";
import { runCluster, setGpus } from "./setup";

const { metadata, spec } = podShape.shape;
/** A pod with the properties that the service does not read. */
export const wholePod = podShape.extend({ metadata: metadata.loose(), spec: spec.loose() });
export const podList = z.object({ items: z.array(wholePod) });

/** Waits for pods are longer than for processes, but not by minutes. */
export const timings = { startBackoff: 100, startBackoffMax: 500, killGrace: 1000 };

let nextPort = 7400 + (process.pid % 50) * 10;

/** The cluster of the tests, with an API client of its administrator; without a cluster, the test is skipped. */
export async function useCluster(context: TestContext) {
  const cluster = inject("cluster");
  if ("missing" in cluster) {
    console.warn(`skipped: ${context.task.name}: ${cluster.missing}`);
    return context.skip(cluster.missing);
  }
  process.env["KUBECONFIG"] = cluster.kubeconfig;
  const admin = await loadCluster(kubernetesShape.parse({}));
  const send = (component: string, signal: string) =>
    runCluster(cluster.port, ["signal", cluster.folder, component, signal]);
  return { ...cluster, admin, send };
}

/** Changes an object. */
export const patch = (admin: Cluster, path: string, body: object): Promise<unknown> =>
  admin.call("PATCH", path, { body, headers: { "content-type": "application/merge-patch+json" } });

/** Creates a namespace, which the test's end deletes. */
export async function useNamespace(admin: Cluster): Promise<string> {
  const name = `test-${randomUUID().slice(0, 8)}`;
  await admin.call("POST", "/api/v1/namespaces", { body: { metadata: { name } } });
  onTestFinished(() => admin.call("DELETE", `/api/v1/namespaces/${name}`).then(() => undefined));
  return name;
}

/** A kubeconfig with changed texts. */
export async function changedConfig(kubeconfig: string, change: (text: string) => string): Promise<string> {
  const file = join(scratchFolder(), "kubeconfig");
  await writeFile(file, change(await readFile(kubeconfig, "utf8")));
  return file;
}

const tokenShape = z.looseObject({ status: z.looseObject({ token: z.string() }) });

/** Creates a service account of a namespace with a role. */
export async function useAccount(admin: Cluster, kubeconfig: string, namespace: string, rules: object[]) {
  const name = `account-${randomUUID().slice(0, 8)}`;
  const rbac = "rbac.authorization.k8s.io";
  const roles = `/apis/${rbac}/v1/namespaces/${namespace}`;
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await admin.call("POST", accounts, { body: { metadata: { name } } });
  await admin.call("POST", `${roles}/roles`, { body: { metadata: { name }, rules } });
  const subjects = [{ kind: "ServiceAccount", name, namespace }];
  const roleRef = { apiGroup: rbac, kind: "Role", name };
  await admin.call("POST", `${roles}/rolebindings`, { body: { metadata: { name }, roleRef, subjects } });
  const { status } = tokenShape.parse(await admin.call("POST", `${accounts}/${name}/token`, { body: { spec: {} } }));
  return {
    kubeconfig: await changedConfig(kubeconfig, (text) => text.replace(/token: \w+/, `token: ${status.token}`)),
    setRules: (changed: object[]) => patch(admin, `${roles}/roles/${name}`, { rules: changed }),
  };
}

const namedObjects = z.looseObject({
  items: z.array(z.looseObject({ metadata: z.looseObject({ name: z.string() }) })),
});

/** Names of the objects of a kind in a namespace. */
export async function namesIn(admin: Cluster, namespace: string, kind: string): Promise<string[]> {
  const { items } = namedObjects.parse(await admin.call("GET", `/api/v1/namespaces/${namespace}/${kind}`));
  return items.map(({ metadata }) => metadata.name);
}

/** Creates volumes of 10 GiB on this machine and their storage class, which the test's end deletes. */
export async function createStorage(admin: Cluster, count: number): Promise<{ storageClass: string }> {
  const storageClass = `tests-${randomUUID().slice(0, 8)}`;
  const classes = "/apis/storage.k8s.io/v1/storageclasses";
  const body = { metadata: { name: storageClass }, provisioner: "kubernetes.io/no-provisioner" };
  await admin.call("POST", classes, { body });
  onTestFinished(() => admin.call("DELETE", `${classes}/${storageClass}`).then(() => undefined));
  const volumes = "/api/v1/persistentvolumes";
  for (let index = 0; index < count; index++) {
    const path = scratchFolder();
    await chmod(path, 0o777);
    const name = `${storageClass}-${index}`;
    const spec = {
      capacity: { storage: "10Gi" },
      accessModes: ["ReadWriteMany", "ReadWriteOnce"],
      storageClassName: storageClass,
      hostPath: { path },
    };
    await admin.call("POST", volumes, { body: { metadata: { name }, spec } });
    onTestFinished(() => admin.call("DELETE", `${volumes}/${name}`).then(() => undefined));
  }
  return { storageClass };
}

/** Ids of the processes whose environment contains a variable: the programs of pods. */
export async function programsWith(variable: string): Promise<number[]> {
  const found: number[] = [];
  for (const pid of await readdir("/proc")) {
    const env = /^\d+$/.test(pid) ? await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "") : "";
    if (env.split("\0").includes(variable)) found.push(Number(pid));
  }
  return found;
}

/** Starts a service whose workers are pods of a new namespace, with the credentials of an administrator or of another `kubeconfig`. */
export async function startRig(context: TestContext, options: ServiceOptions = {}, kubeconfig?: string) {
  const cluster = await useCluster(context);
  const { admin } = cluster;
  process.env["KUBECONFIG"] = kubeconfig ?? cluster.kubeconfig;
  const namespace = options.kubernetes?.namespace ?? (await useNamespace(admin));
  const { service, dataFolder, workerLog } = await useLocalService({
    ...serviceDefaults,
    runtime: "kubernetes",
    ...options,
    timings: { ...timings, ...options.timings },
    kubernetes: {
      workerUrl: `http://${cluster.address}:${nextPort++}`,
      ...options.kubernetes,
      namespace,
    },
  });
  const clients = createClients(service);
  onTestFinished(() => clients.close());
  const list = async (kind: string) => admin.call("GET", `/api/v1/namespaces/${namespace}/${kind}`);
  return {
    ...cluster,
    namespace,
    dataFolder,
    service,
    clients,
    /** Signals the programs of a worker. */
    async freeze(workerId: string, signal: NodeJS.Signals): Promise<void> {
      for (const pid of await programsWith(`RUNPOD_POD_ID=${workerId}`)) process.kill(pid, signal);
    },
    setGpus: (count: number) => setGpus(admin, count),
    pods: async () => podList.parse(await list("pods")).items,
    /** Objects of a kind that belong to a service, as text. */
    objects: async (kind: string) => JSON.stringify(await list(kind)),
    names: (kind: string) => namesIn(admin, namespace, kind),
    endpoint: (of: Parameters<typeof createEndpoint>[1] = {}) =>
      createEndpoint(service, { image: cluster.image, ...of }),
    /** Waits until a job of the endpoint waits for this reason, with these numbers of workers. */
    async jobWaits(
      endpointId: string,
      reason: string | RegExp,
      { workers = {}, timeout = 30_000 } = {},
    ): Promise<void> {
      const message = expect.stringMatching(reason);
      await expect
        .poll(() => clients.jobs.health(endpointId), { timeout })
        .toMatchObject({ jobs: { inQueue: 1 }, workers, message });
    },
    log: (endpointId: string) => workerLog(endpointId).catch(() => ""),
  };
}
