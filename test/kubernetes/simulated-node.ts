import { readFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { createServer } from "node:https";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { z } from "zod";
import type { Cluster } from "../../service/workers/runtimes/pod/cluster";
import { closeServer, listenOnLoopback } from "../support/loopback";
import { wholePod } from "./rig";

const name = "simulated";
const watchEvent = z.looseObject({ type: z.string(), object: wholePod });
const secret = z.looseObject({ data: z.record(z.string(), z.string()) });
const envShape = z.object({
  name: z.string(),
  valueFrom: z.object({ secretKeyRef: z.object({ key: z.string() }) }),
});
const specShape = z.looseObject({ containers: z.tuple([z.looseObject({ env: z.array(envShape) })]) });
const mergePatch = "application/merge-patch+json";

/**
 * A node of the cluster without a kubelet, which runs the pods of a namespace that no node has room for: it reports them as running, keeps
 * their logs open, and requests jobs as their workers do, without programs.
 */
export async function useSimulatedNode({ admin, folder }: { admin: Cluster; folder: string }, namespace: string) {
  const pki = (file: string) => readFile(join(folder, "pki", file));
  const logs = createServer({ cert: await pki("kubelet.crt"), key: await pki("kubelet.key") }, (_request, response) => {
    response.write(`${new Date().toISOString().replace("Z", "000000Z")} a worker starts\n`);
  });
  const { port } = new URL(await listenOnLoopback(logs));
  const closed = new AbortController();
  const agent = new Agent({ keepAlive: true });
  const path = `/api/v1/namespaces/${namespace}`;
  const state = { started: 0 };

  await admin.call("POST", "/api/v1/nodes", { body: { metadata: { name }, spec: { unschedulable: true } } });
  const now = (): string => new Date().toISOString();
  const status = {
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
    daemonEndpoints: { kubeletEndpoint: { Port: Number(port) } },
    conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: now(), lastTransitionTime: now() }],
  };
  await admin.call("PATCH", `/api/v1/nodes/${name}/status`, {
    body: { status },
    headers: { "content-type": mergePatch },
  });
  const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
  const lease = () => ({
    metadata: { name },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: now().replace("Z", "000Z") },
  });
  await admin.call("POST", leases, { body: lease() });
  const beat = setInterval(
    () =>
      admin
        .call("PATCH", `${leases}/${name}`, { body: lease(), headers: { "content-type": mergePatch } })
        .catch(() => undefined),
    5000,
  );

  /** Requests jobs until the pod is deleted. */
  async function work(pod: string, signal: AbortSignal): Promise<void> {
    const { data } = secret.parse(await admin.call("GET", `${path}/secrets/${pod}`));
    const { spec } = wholePod.parse(await admin.call("GET", `${path}/pods/${pod}`));
    const [{ env }] = specShape.parse(spec).containers;
    const keys = new Map(env.map(({ name, valueFrom }) => [name, valueFrom.secretKeyRef.key]));
    const variable = (name: string) => Buffer.from(data[keys.get(name) ?? ""] ?? "", "base64").toString();
    const url = variable("RUNPOD_WEBHOOK_GET_JOB")
      .replace("$RUNPOD_POD_ID", variable("RUNPOD_POD_ID"))
      .replace("$ID", variable("RUNPOD_POD_ID"));
    while (!signal.aborted)
      await new Promise<void>((resolve) => {
        const outgoing = request(
          `${url}&job_in_progress=0`,
          { agent, signal, headers: { authorization: variable("RUNPOD_AI_API_KEY") } },
          (response) => {
            response.resume().once("close", resolve);
          },
        );
        outgoing.once("error", () => pause(200).then(resolve)).end();
      });
  }

  const running = new Map<string, AbortController>();
  async function run(pod: string): Promise<void> {
    const controller = new AbortController();
    running.set(pod, controller);
    await admin.call("POST", `${path}/pods/${pod}/binding`, {
      body: { metadata: { name: pod }, target: { kind: "Node", name } },
    });
    const podStatus = {
      phase: "Running",
      podIP: "192.0.2.1",
      conditions: [{ type: "Ready", status: "True" }],
      containerStatuses: [
        {
          name: "worker",
          image: "simulated",
          imageID: "simulated",
          ready: true,
          restartCount: 0,
          state: { running: { startedAt: now() } },
        },
      ],
    };
    await admin.call("PATCH", `${path}/pods/${pod}/status`, {
      body: { status: podStatus },
      headers: { "content-type": mergePatch },
    });
    state.started++;
    await work(pod, controller.signal);
  }

  async function follow(): Promise<void> {
    while (!closed.signal.aborted) {
      const stream = await admin.open("GET", `${path}/pods`, { query: { watch: "1" }, signal: closed.signal });
      for await (const line of createInterface({ input: stream })) {
        const { type, object } = watchEvent.parse(JSON.parse(line));
        const pod = object.metadata.name;
        if (type === "DELETED" || object.metadata.deletionTimestamp !== undefined) {
          running.get(pod)?.abort();
          if (type !== "DELETED")
            admin.call("DELETE", `${path}/pods/${pod}`, { body: { gracePeriodSeconds: 0 } }).catch(() => undefined);
        } else if (!running.has(pod) && object.spec.schedulingGates.length === 0)
          run(pod).catch((error: unknown) => closed.signal.aborted || console.error(String(error)));
      }
    }
  }
  const following = follow().catch(() => undefined);
  onTestFinished(async () => {
    closed.abort();
    clearInterval(beat);
    for (const controller of running.values()) controller.abort();
    agent.destroy();
    await closeServer(logs);
    await following;
    await admin.call("DELETE", `/api/v1/nodes/${name}`);
    await admin.call("DELETE", `${leases}/${name}`);
  });
  return state;
}
