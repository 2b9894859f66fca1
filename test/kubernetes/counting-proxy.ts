import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { CallError } from "../../service/workers/runtimes/json-client";
import type { Cluster } from "../../service/workers/runtimes/pod/cluster";
import { scratchFolder } from "../support/folders";
import { closeServer, listenOnLoopback } from "../support/loopback";

/** Numbers of requests by method and resource, such as `POST pods` or `GET pods/log`. */
export type RequestCounts = Record<string, number>;

/** Starts a proxy of the API server that counts requests and can hold back watches, with a kubeconfig for it. */
export async function useCountingProxy(admin: Cluster) {
  let counts: RequestCounts = {};
  const watches = new Set<ServerResponse>();
  let holdsWatches = false;
  const server = createServer(async (request, response) => {
    const { method = "", url = "" } = request;
    const { pathname, searchParams } = new URL(url, "http://proxy");
    const [, resource = pathname, name, part] = /\/namespaces\/[^/]+\/([^/]+)(\/[^/]+)?(\/[^/]+)?/.exec(pathname) ?? [];
    const verb = searchParams.has("watch") ? "WATCH" : method;
    const label = `${verb} ${resource}${name === undefined ? "" : "/NAME"}${part ?? ""}`;
    counts[label] = (counts[label] ?? 0) + 1;
    const body = await text(request);
    const contentType = request.headers["content-type"] ?? "application/json";
    const closed = new AbortController();
    response.once("close", () => {
      closed.abort();
      watches.delete(response);
    });
    if (verb === "WATCH") watches.add(response);
    if (verb === "WATCH" && holdsWatches) {
      response.writeHead(200).flushHeaders();
      return;
    }
    const query = Object.fromEntries(searchParams);
    const content = body === "" ? {} : { body: JSON.parse(body), headers: { "content-type": contentType } };
    try {
      const answer = await admin.open(method, pathname, { query, signal: closed.signal, ...content });
      answer.once("error", () => response.destroy());
      response.writeHead(answer.statusCode ?? 502, { "content-type": "application/json" });
      response.flushHeaders();
      answer.pipe(response);
      await once(answer, "close");
    } catch (error) {
      if (!(error instanceof CallError) || error.status === 0) response.destroy();
      else response.writeHead(error.status).end(JSON.stringify({ message: error.message }));
    }
  });
  let connections = 0;
  server.on("connection", () => connections++);
  const origin = await listenOnLoopback(server);
  onTestFinished(() => closeServer(server));
  const kubeconfig = join(scratchFolder(), "kubeconfig");
  await writeFile(
    kubeconfig,
    `apiVersion: v1
kind: Config
clusters: [{ name: proxy, cluster: { server: "${origin}", insecure-skip-tls-verify: true } }]
users: [{ name: nobody, user: {} }]
contexts: [{ name: proxy, context: { cluster: proxy, user: nobody } }]
current-context: proxy
`,
  );
  return {
    kubeconfig,
    /** Number of connections so far. */
    connections: () => connections,
    /** Number of open watches. */
    watches: () => watches.size,
    /** Ends all watches. If `holds`, later ones report nothing. */
    endWatches(holds: boolean): void {
      holdsWatches = holds;
      for (const watch of watches) watch.destroy();
    },
    /** Returns the counts since the previous call. */
    take(): RequestCounts {
      const taken = counts;
      counts = {};
      return taken;
    },
  };
}
