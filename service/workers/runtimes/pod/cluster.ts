import { type IncomingMessage, request as requestPlainly } from "node:http";
import { type RequestOptions, request as requestByTls } from "node:https";
import { json, text } from "node:stream/consumers";
import type { KubeConfig } from "@kubernetes/client-node";
import { messageOf, StartError } from "../../../errors";
import { rejectionReason } from "../rejection";
import type { KubernetesSettings } from "./settings";

/** A call that the API server rejected, or that received no response (`status` 0). The message comes from the API server. */
export class ClusterError extends Error {
  override readonly name = "ClusterError";
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** Returns true if a repeated call may succeed: the API server is away, or overloaded. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof ClusterError && (error.status === 0 || error.status === 429 || error.status >= 500);

interface ClusterCall {
  query?: Record<string, string>;
  body?: object;
  contentType?: string;
  /** Status of a rejection that counts as success. */
  accepts?: number;
  signal?: AbortSignal;
}

/** A client of a cluster's API server, and the namespace of the workers. */
export type Cluster = ReturnType<typeof createCluster>;

/** Pause before an interrupted call is sent again, ms. */
export const retryPause = 1000;

/** Timeout of a call, ms. */
const callTimeout = 30_000;

/** Name of the optional package with the credentials of clusters. */
const clientPackage = "@kubernetes/client-node";

/** Loads the kubeconfig, or the credentials of the service's own pod. Rejects with a StartError. */
export async function loadCluster({ context, namespace }: KubernetesSettings): Promise<Cluster> {
  const { KubeConfig: Config } = await import("@kubernetes/client-node").catch((error: unknown) => {
    throw new StartError(
      `runtime "kubernetes": the package ${clientPackage} cannot be loaded; run npm install ${clientPackage}@1.4.0`,
      { cause: error },
    );
  });
  const config = new Config();
  try {
    config.loadFromDefault();
  } catch (error) {
    throw new StartError(
      `runtime "kubernetes": the kubeconfig cannot be read: ${messageOf(error)}; correct the file that KUBECONFIG names`,
      { cause: error },
    );
  }
  if (context !== undefined) {
    const names = config.getContexts().map(({ name }) => name);
    if (!names.includes(context))
      throw new StartError(
        `kubernetes.context: "${context}" does not exist in the kubeconfig; must be one of ${names.join(", ")}`,
      );
    config.setCurrentContext(context);
  }
  const current = config.getContextObject(config.getCurrentContext());
  // Without a kubeconfig and outside of a cluster, the client uses a default address.
  if (!config.getCurrentCluster() || current?.name === "loaded-context")
    throw new StartError(
      'runtime "kubernetes": there is no cluster; set KUBECONFIG or create ~/.kube/config, or run the service in a cluster',
    );
  return createCluster(config, namespace ?? current?.namespace ?? "default");
}

function createCluster(config: KubeConfig, namespace: string) {
  const server = new URL(config.getCurrentCluster()?.server ?? "");
  const context = config.getCurrentContext();
  const displayUrl = server.origin;
  /** The agent of all calls, and the certificates that it uses. */
  let agent: RequestOptions["agent"];
  let certificates: string | undefined;

  async function send(method: string, path: string, call: ClusterCall): Promise<IncomingMessage> {
    const { query, body: content, signal, contentType = "application/json" } = call;
    const body = content && JSON.stringify(content);
    const headers = body ? { "content-type": contentType, "content-length": Buffer.byteLength(body) } : {};
    const search = query ? `?${new URLSearchParams(query)}` : "";
    const { hostname, port } = server;
    const prefix = server.pathname.replace(/\/$/, "");
    // An agent closes connections that are unused for this timeout, before the API server does.
    const timeout = callTimeout;
    const target = { hostname, port, path: `${prefix}${path}${search}`, timeout };
    const options: RequestOptions = { method, headers, signal, ...target };
    try {
      // Reads tokens again and runs credential plugins of clouds, which keep their result until it expires.
      await config.applyToHTTPSOptions(options);
      // The client creates an agent for each call, and a TLS context of 35 KB for each of its connections.
      const current = String([options.ca, options.cert, options.key]);
      if (current !== certificates && typeof options.agent === "object") {
        agent = Object.assign(options.agent, { keepAlive: true });
        certificates = current;
      }
      options.agent = agent;
    } catch (error) {
      throw new ClusterError(401, `the credentials cannot be obtained: ${messageOf(error)}`, { cause: error });
    }
    const request = server.protocol === "https:" ? requestByTls : requestPlainly;
    return new Promise((resolve, reject) => {
      const outgoing = request(options, resolve);
      // Finds the end of a connection whose other side is gone.
      outgoing.on("socket", (socket) => socket.setKeepAlive(true, callTimeout));
      outgoing.once("error", (error) => {
        // The API server had closed the kept connection.
        if (outgoing.reusedSocket && !signal?.aborted) return resolve(send(method, path, call));
        const reason = signal?.aborted ? "no response in time" : error.message || messageOf(error);
        reject(
          new ClusterError(0, `the Kubernetes API at ${displayUrl} does not respond: ${reason}`, { cause: error }),
        );
      });
      outgoing.end(body);
    });
  }

  /** The error of a response that has ended early. */
  const interruption = (cause: unknown): ClusterError =>
    new ClusterError(0, `the Kubernetes API at ${displayUrl} closed the connection`, { cause });

  /** Sends a call; resolves with the response as a stream. Rejects with a ClusterError. */
  async function open(method: string, path: string, call: ClusterCall = {}): Promise<IncomingMessage> {
    const response = await send(method, path, call);
    const { statusCode = 0 } = response;
    if (statusCode < 400 || statusCode === call.accepts) return response;
    const body = await text(response).catch(() => "");
    throw new ClusterError(statusCode, rejectionReason(statusCode, body));
  }

  return {
    displayUrl,
    namespace,
    /** Context of the kubeconfig; undefined if the service runs in the cluster itself. */
    context: context === "inClusterContext" ? undefined : context,
    open,
    interruption,
    /** Sends a call; resolves with the JSON of the response. Rejects with a ClusterError. */
    async call(method: string, path: string, call: ClusterCall = {}): Promise<unknown> {
      const response = await open(method, path, { signal: AbortSignal.timeout(callTimeout), ...call });
      return json(response).catch((error: unknown) => {
        throw interruption(error);
      });
    },
    /** Path of a kind of objects in the workers' namespace. */
    path: (kind: string): string => `/api/v1/namespaces/${encodeURIComponent(namespace)}/${kind}`,
  };
}
