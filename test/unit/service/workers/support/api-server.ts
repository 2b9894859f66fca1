import { createServer, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { deferred } from "../../../../../service/deferred";
import { closeServer, listenOnLoopback } from "../../../../support/loopback";
import { useKubeconfig } from "./kubeconfig";

const namespace = /^\/api\/v1\/namespaces\/[^/]+\//;

/** Name of the pod of the worker "w1". */
export const name = "serverless-compute-w1";

interface Pod {
  metadata: { name: string; uid: string; labels?: object; annotations?: object; deletionTimestamp?: string };
  spec: object;
  status: object;
}
export const podOf = (name: string, status: object, metadata: object = {}): Pod => ({
  metadata: { name, uid: "u", ...metadata },
  spec: { nodeName: "node-1" },
  status,
});
export type ApiServer = Awaited<ReturnType<typeof useApiServer>>;

/** An API server with these pods; `respond` replaces responses. */
export async function useApiServer(existing: Pod[] = []) {
  const calls: string[] = [];
  const watches = new Set<ServerResponse>();
  const replaced = new Map<string, { status: number; json: object } | undefined>();
  const pods = new Map(existing.map((pod) => [pod.metadata.name, pod]));
  const open = new Set<ServerResponse>();
  const held = new Map<string, Promise<void>>();
  let log = "";
  let accepted = 1;
  let count = 0;
  const emit = (type: string, pod: object): void => {
    for (const watch of watches) watch.write(`${JSON.stringify({ type, object: pod })}\n`);
  };
  const server = createServer(async (request, response) => {
    open.add(response);
    response.once("close", () => open.delete(response));
    const { pathname, searchParams } = new URL(request.url ?? "", "http://api");
    const body = Object(JSON.parse((await text(request)) || "{}"));
    const path = pathname.replace(namespace, "");
    const isReview = path.includes("selfsubjectaccessreviews");
    const call = `${request.method} ${path}`;
    if (!isReview && !searchParams.has("dryRun")) calls.push(searchParams.has("watch") ? "watch" : call);
    const send = (value: object, status = 200): unknown => response.writeHead(status).end(JSON.stringify(value));
    const items = [...pods.values()];
    await held.get(searchParams.has("watch") ? "watch" : call);
    if (!isReview && ++count % accepted > 0) return send({ message: "too many requests" }, 429);
    const replacement = replaced.get(call);
    if (replacement) return send(replacement.json, replacement.status);
    if (isReview) return send({ status: { allowed: true } });
    if (path.endsWith("/log")) return response.end(log);
    if (path === "events") return send({ items: [] });
    if (searchParams.has("watch")) {
      watches.add(response);
      response.once("close", () => watches.delete(response));
      return response.writeHead(200).flushHeaders();
    }
    if (call === "GET pods") return send({ metadata: { resourceVersion: "1" }, items });
    const podName = path.slice("pods/".length);
    if (call === "POST pods") pods.set(body.metadata.name, podOf(body.metadata.name, {}));
    const pod = pods.get(call === "POST pods" ? body.metadata.name : podName);
    if (request.method === "DELETE" && pod) {
      pods.delete(podName);
      calls.push(`grace ${body.gracePeriodSeconds}`);
      emit("DELETED", pod);
    }
    return path.startsWith("pods") && !pod ? send({ message: "not found" }, 404) : send(pod ?? {});
  });
  const origin = await listenOnLoopback(server);
  useKubeconfig(origin);
  onTestFinished(() => closeServer(server));
  return {
    calls,
    replaced,
    pods,
    watches,
    /** Number of calls without a complete response. */
    openCalls: () => open.size,
    /** Delays a call, such as "GET pods" or "watch", until the returned function is called; a list contains the pods from before. */
    hold(call: string): () => void {
      const { promise, resolve } = deferred();
      held.set(call, promise);
      return resolve;
    },
    /** Accepts each `n`th call and rejects the others with 429. */
    throttle(n: number): void {
      accepted = n;
      count = 0;
    },
    setLog(text: string): void {
      log = text;
    },
    /** Reports a state of the worker's pod. */
    report: (status: object): void => emit("MODIFIED", podOf(name, status)),
    emit,
    /** Calls about pods that a service sent since its start. */
    changes: () => calls.filter((call) => !call.startsWith("GET") && call !== "watch"),
  };
}
