import { get } from "node:http";
import { showValue } from "serverless-compute-api/shapes";
import { ServiceError } from "../errors";

/** Ports and health check of the HTTP server of a load balancer's worker. */
export interface ServerPorts {
  port: number;
  healthPort: number;
  healthPath: string;
}

/** The HTTP server of a worker, at the address used by the service. */
export interface WorkerServer extends ServerPorts {
  host: string;
}

/** Address of workers that run as processes on this machine. */
export const loopback = "127.0.0.1";

/** Port of a server or of its health check without a variable (contract of REST v2: LOAD_BALANCER). */
const defaultPort = "80";

/** Path of the health check of a worker with the environment `env`. */
export const healthPathOf = ({ HEALTH_CHECK_PATH = "/ping" }: Record<string, string>): string => HEALTH_CHECK_PATH;

function parsePort(name: string, value: string): number {
  const port = Number(value);
  if (/^\d+$/.test(value) && port >= 1 && port <= 65_535) return port;
  throw new ServiceError("invalid", `env.${name}: ${showValue(value)} is not allowed; must be a port from 1 to 65535`);
}

/** Reads the server of a worker from its environment; throws a ServiceError for an invalid variable. */
export function parseServer(env: Record<string, string>): ServerPorts {
  const { PORT = defaultPort, PORT_HEALTH = defaultPort } = env;
  const healthPath = healthPathOf(env);
  // Node throws for other characters in a request's path, or the worker's server rejects them.
  if (!/^\/[!-~]*$/.test(healthPath))
    throw new ServiceError(
      "invalid",
      `env.HEALTH_CHECK_PATH: ${showValue(healthPath)} is not allowed; must be a path such as /ping, in ASCII characters without spaces`,
    );
  return {
    port: parsePort("PORT", PORT),
    healthPort: parsePort("PORT_HEALTH", PORT_HEALTH),
    healthPath,
  };
}

/** Environment variables with a worker's ports. */
export const portVariables = ({ port, healthPort }: ServerPorts): Record<string, string> => ({
  PORT: String(port),
  PORT_HEALTH: String(healthPort),
});

/** Timeout of a health check, ms. */
const checkTimeout = 5000;

/** Sends a health check; resolves with the status of the response, or with the error if there is none. */
export function checkHealth({ host, healthPort, healthPath }: WorkerServer): Promise<number | Error> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(checkTimeout);
    const request = get({ host, port: healthPort, path: healthPath, agent: false, signal }, (response) => {
      response.on("error", () => undefined).resume();
      resolve(response.statusCode ?? 0);
    });
    request.on("error", (error) =>
      resolve(signal.aborted ? new Error(`no response within ${checkTimeout / 1000} s`) : error),
    );
    // A response that switches protocols causes neither an error nor a response.
    request.on("close", () => resolve(new Error("no response")));
  });
}
