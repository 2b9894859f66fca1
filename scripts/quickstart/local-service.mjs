import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { isAlive } from "../child.mjs";

/**
 * Addresses of a running local service.
 * @typedef {object} ServiceAddresses
 * @property {string} baseUrl
 * @property {string} graphqlUrl
 * @property {string} serverlessUrl
 * @property {string} apiKeyFile
 * @property {number} pid The process that runs it.
 */

/**
 * A local service in this process.
 * @typedef {object} RunningService
 * @property {ServiceAddresses} addresses
 * @property {string} apiKey
 * @property {string | undefined} consoleUrl A link that opens the service's console once. It is not stored.
 * @property {boolean} hasMoved True if the addresses differ from the addresses of the previous run, which are in the stack's state.
 * @property {() => Promise<void>} stop Stops it gracefully.
 */

/** Default port of clients. */
const defaultPort = 7337;

/**
 * Starts the local service in this process, on the port of its previous run if that is free.
 * @param {import("serverless-compute-local").ServiceOptions & { dataFolder: string }} options
 * @param {string} addressFile File with its addresses while it runs.
 * @returns {Promise<RunningService>}
 */
export async function startService(options, addressFile) {
  const previous = await readAddresses(addressFile);
  const port = await freePort([...(previous ? [Number(new URL(previous.baseUrl).port)] : []), defaultPort]);
  // The package is built by now.
  const { createService } = await import("serverless-compute-local");
  const service = await createService({ ...options, port });
  const addresses = toAddresses({ ...service, pid: process.pid });
  await writeFile(addressFile, JSON.stringify(addresses));
  const hasMoved = previous !== undefined && previous.serverlessUrl !== addresses.serverlessUrl;
  return { addresses, apiKey: service.apiKey, consoleUrl: service.consoleUrl, hasMoved, stop: () => service.stop() };
}

/**
 * The service that another script has started, if it responds.
 * @param {string} addressFile
 */
export async function findService(addressFile) {
  const addresses = await readAddresses(addressFile);
  // Another program may use the port now; it must not receive the key.
  if (addresses === undefined || !isAlive(addresses.pid)) return undefined;
  try {
    const apiKey = (await readFile(addresses.apiKeyFile, "utf8")).trim();
    const response = await fetch(`${addresses.baseUrl}/templates`, {
      headers: { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(3_000),
    });
    return response.ok ? { addresses, apiKey } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Objects that still exist in the service, as `kind name`; empty if there are none.
 * @param {{ addresses: ServiceAddresses, apiKey: string }} service
 * @returns {Promise<string[]>}
 */
export async function remainingObjects({ addresses, apiKey }) {
  const query = "{ myself { endpoints { name } podTemplates { name } networkVolumes { name } secrets { name } } }";
  const response = await fetch(addresses.graphqlUrl, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ query }),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  if (!response.ok || !text.startsWith('{"data"'))
    throw new Error(`The local service could not list its objects: ${text}`);
  /** @type {{ data: { myself: Record<string, { name: string }[]> } }} */
  const { data } = JSON.parse(text);
  return Object.entries(data.myself).flatMap(([kind, found]) => found.map(({ name }) => `${kind} ${name}`));
}

/** @param {string} addressFile */
async function readAddresses(addressFile) {
  try {
    return toAddresses(JSON.parse(await readFile(addressFile, "utf8")));
  } catch {
    return undefined;
  }
}

/**
 * @param {{ [Key in keyof ServiceAddresses]?: unknown }} value
 * @returns {ServiceAddresses}
 */
function toAddresses({ baseUrl, graphqlUrl, serverlessUrl, apiKeyFile, pid }) {
  return {
    baseUrl: String(baseUrl),
    graphqlUrl: String(graphqlUrl),
    serverlessUrl: String(serverlessUrl),
    apiKeyFile: String(apiKeyFile),
    pid: Number(pid),
  };
}

/**
 * The first of these ports that is free; 0 (any port) if all are in use.
 * @param {number[]} ports
 */
async function freePort(ports) {
  for (const port of ports) {
    const isFree = await new Promise((resolve) => {
      const server = createServer();
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
  return 0;
}

/**
 * Tests whether a command of the Pulumi CLI calls the service.
 * @param {readonly string[]} args
 */
export function callsService(args) {
  const [command = ""] = args.filter((arg) => !arg.startsWith("-"));
  const requestsHelp = args.some((arg) => ["--help", "-h"].includes(arg));
  return !requestsHelp && ["up", "update", "refresh", "destroy", "down", "dn"].includes(command);
}
