import { Agent, type Dispatcher, EnvHttpProxyAgent } from "undici";
import type { Proxies } from "./proxies";

/** Settings of the connection pools. */
export interface AgentSettings {
  /** Timeout of one attempt, ms. */
  attemptTimeout: number;
  /** Maximum number of concurrent calls. */
  maxInFlight: number;
  /** Proxies for all addresses except loopback; none by default. */
  proxies?: Proxies | undefined;
}

/** Creates the connection pools, one for direct connections and one for connections through the proxies. */
export function createAgents({ attemptTimeout, maxInFlight, proxies = {} }: AgentSettings) {
  const options = {
    connections: maxInFlight,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    connect: { timeout: attemptTimeout },
  };
  const direct = new Agent(options);
  let proxied: EnvHttpProxyAgent | undefined;
  return {
    agentFor: (usesProxies: boolean): Dispatcher => {
      if (!usesProxies) return direct;
      // Empty strings prevent undici from reading the environment.
      const { http = "", https = "", noProxy = "" } = proxies;
      proxied ??= new EnvHttpProxyAgent({ ...options, httpProxy: http, httpsProxy: https, noProxy });
      return proxied;
    },
    close: async (): Promise<void> => {
      await Promise.all([direct.close(), proxied?.close()]);
    },
  };
}
