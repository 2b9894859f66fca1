import { once } from "node:events";
import type { RequestOptions } from "node:https";
import { urlToHttpOptions } from "node:url";
import type { KubeConfig } from "@kubernetes/client-node";
import { messageOf, StartError } from "../../../errors";
import { type Call, CallError, createJsonClient } from "../json-client";
import type { KubernetesSettings } from "./settings";

/** Returns true if the quota of the namespace has no room, or is not known yet. */
export const lacksQuota = ({ status, message }: CallError): boolean =>
  status === 403 && /exceeded quota|status unknown for quota/.test(message);

/** Returns true if an object with this name exists. */
export const alreadyExists = ({ status, message }: CallError): boolean =>
  status === 409 && message.endsWith("already exists");

/** Messages about a role without a rule, a namespace that is deleted or lacks its service account, and an API server that starts. */
const administration =
  /cannot \w+ resource|being terminated|error looking up service account|^namespaces "|not yet ready to handle request/;

/**
 * Returns true if a repeated call may succeed, whatever its object: the API server is away or overloaded, or the credentials, the role, the
 * quota or the namespace must be restored.
 */
export const isTemporary = (error: unknown): error is CallError =>
  error instanceof CallError &&
  ([0, 401, 429].includes(error.status) ||
    error.status >= 500 ||
    // Creations at the same time change the state of one quota.
    (error.status === 409 && !alreadyExists(error)) ||
    lacksQuota(error) ||
    ([403, 404].includes(error.status) && administration.test(error.message)));

/** The reason of a rejected call, for the user. */
export const reasonOf = ({ status, message }: CallError, displayUrl: string): string =>
  status === 401
    ? `the credentials for ${displayUrl} cannot be used (${message}); renew them or select another context`
    : message;

/** The reason of a rejected call while the service runs. */
export const waitReasonOf = (error: CallError, displayUrl: string): string => {
  const mayNeedRestart = error.status === 401 || error.message.includes("certificate");
  const hint = mayNeedRestart ? "; restart the service after a change of the kubeconfig" : "";
  return `${reasonOf(error, displayUrl)}${hint}`;
};

/** A client of a cluster's API server, and the namespace of the workers. */
export type Cluster = ReturnType<typeof createCluster>;

/** Pause before an interrupted call is sent again, ms. */
export const retryPause = 1000;

/** Timeout of a call, ms. */
const callTimeout = 30_000;

/** Loads the kubeconfig, or the credentials of the service's own pod. Rejects with a StartError. */
export async function loadCluster({ context, namespace }: KubernetesSettings): Promise<Cluster> {
  const { KubeConfig: Config } = await import("@kubernetes/client-node").catch((error: unknown) => {
    throw new StartError(
      'runtime "kubernetes": the package @kubernetes/client-node cannot be loaded; run npm install @kubernetes/client-node@1.4.0',
      { cause: error },
    );
  });
  const config = new Config();
  try {
    // As for kubectl, the first file of KUBECONFIG selects the context.
    config.loadFromDefault({}, true);
  } catch (error) {
    throw new StartError(
      `runtime "kubernetes": the kubeconfig cannot be read: ${messageOf(error)}; correct the file that KUBECONFIG names`,
      { cause: error },
    );
  }
  const names = config.getContexts().map(({ name }) => name);
  // Without a kubeconfig and outside of a cluster, the client uses a default address.
  if (names.length === 0 || names.includes("loaded-context"))
    throw new StartError(
      'runtime "kubernetes": there is no cluster; set KUBECONFIG or create ~/.kube/config, or run the service in a cluster',
    );
  const name = context ?? config.getCurrentContext();
  const current = config.getContextObject(name);
  if (!current)
    throw new StartError(
      `kubernetes.context: ${name ? `"${name}" does not exist in the kubeconfig` : "the kubeconfig has no current context"}; must be one of ${names.join(", ")}`,
    );
  config.setCurrentContext(name);
  if (!config.getCurrentCluster() || (current.user && !config.getCurrentUser()))
    throw new StartError(
      `kubernetes.context: the kubeconfig lacks the cluster "${current.cluster}" or the user "${current.user}" of "${name}"; add it, or select another context`,
    );
  return createCluster(config, namespace ?? current.namespace ?? "default");
}

function createCluster(config: KubeConfig, namespace: string) {
  const server = new URL(config.getCurrentCluster()?.server ?? "");
  const context = config.getCurrentContext();
  const displayUrl = server.origin;
  const prefix = server.pathname.replace(/\/$/, "");
  /** The agent of all calls, and the certificates that it uses. */
  let agent: RequestOptions["agent"];
  let certificates: string | undefined;

  /** Options of a call with credentials, while they are being obtained. */
  let credentials: Promise<RequestOptions> | undefined;

  async function obtainCredentials(): Promise<RequestOptions> {
    // An agent closes connections that are unused for this timeout, before the API server does.
    const options: RequestOptions = { ...urlToHttpOptions(server), timeout: callTimeout };
    // Reads tokens again and runs credential plugins of clouds, which keep their result until it expires.
    await config.applyToHTTPSOptions(options).finally(() => {
      credentials = undefined;
    });
    // The client creates an agent for each call, and a TLS context of 35 KB for each of its connections.
    const current = String([options.ca, options.cert, options.key]);
    if (current !== certificates && typeof options.agent === "object") {
      agent = Object.assign(options.agent, { keepAlive: true });
      certificates = current;
    }
    return { ...options, agent };
  }

  const client = createJsonClient(`the Kubernetes API at ${displayUrl}`, async (request) => {
    const { path, headers, signal = new AbortController().signal } = request;
    const obtained = new AbortController();
    // A plugin may wait for a login. Calls share it, so that one runs at a time.
    credentials ??= obtainCredentials();
    const late = once(signal, "abort", obtained).then(() =>
      Promise.reject(new Error("the credential plugin does not end")),
    );
    try {
      const options = await Promise.race([credentials, late]);
      return { ...options, ...request, path: `${prefix}${path}`, headers: { ...options.headers, ...headers } };
    } catch (error) {
      throw new CallError(401, messageOf(error).trim(), { cause: error });
    } finally {
      obtained.abort();
    }
  });

  return {
    ...client,
    displayUrl,
    namespace,
    /** False if all calls are anonymous: the client reads no other properties of a user. */
    hasCredentials: Object.values({ ...config.getCurrentUser(), name: undefined }).some(Boolean),
    /** Context of the kubeconfig; undefined if the service runs in the cluster itself. */
    context: context === "inClusterContext" ? undefined : context,
    /** Sends a call with a timeout. */
    async call(method: string, path: string, call: Call = {}): Promise<unknown> {
      const json = await client.call(method, path, { signal: AbortSignal.timeout(callTimeout), ...call });
      if (json !== undefined) return json;
      throw new CallError(0, `${displayUrl} sent no JSON (a proxy may have responded)`);
    },
    /** Path of a kind of objects in the workers' namespace. */
    path: (kind: string): string => `/api/v1/namespaces/${encodeURIComponent(namespace)}/${kind}`,
  };
}
