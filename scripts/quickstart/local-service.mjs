import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { isAlive } from "../child.mjs";

/**
 * Access to a running local service.
 * @typedef {{ serverlessUrl: string, apiKey: string }} ServiceAccess
 */

/**
 * A local service in this process.
 * @typedef {object} OwnService
 * @property {string | undefined} consoleUrl A link that opens the service's console once. It is not stored.
 * @property {boolean} hasMoved True if the address differs from that of the previous run, which is in the stack's state.
 * @property {() => Promise<void>} stop Stops it gracefully.
 */

/** @typedef {ServiceAccess & OwnService} RunningService */

/** Default port of clients. */
const defaultPort = 7337;

/**
 * Starts the local service in this process, on the port of its previous run if that is free.
 * @param {import("serverless-compute-local").ServiceOptions & { dataFolder: string }} options
 * @param {string} addressFile File with its address and process.
 * @returns {Promise<RunningService>}
 */
export async function startService(options, addressFile) {
  const previous = await readAddress(addressFile);
  const port = await freePort([...(previous ? [Number(new URL(previous.serverlessUrl).port)] : []), defaultPort]);
  // The package is built by now.
  const { createService } = await import("serverless-compute-local");
  const { serverlessUrl, apiKey, consoleUrl, stop } = await createService({ ...options, port });
  await writeFile(addressFile, JSON.stringify({ serverlessUrl, pid: process.pid }));
  const hasMoved = previous !== undefined && previous.serverlessUrl !== serverlessUrl;
  return { serverlessUrl, apiKey, consoleUrl, hasMoved, stop: () => stop() };
}

/**
 * The service that another script has started, if it responds.
 * @param {string} addressFile
 * @param {string} dataFolder
 * @returns {Promise<ServiceAccess | undefined>}
 */
export async function findService(addressFile, dataFolder) {
  const address = await readAddress(addressFile);
  // Another program may use the port now; it must not receive the key.
  if (address === undefined || !isAlive(address.pid)) return undefined;
  const { serverlessUrl } = address;
  try {
    const apiKey = (await readFile(join(dataFolder, "api-key"), "utf8")).trim();
    const response = await fetch(`${serverlessUrl}/v2/templates`, {
      headers: { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(3_000),
    });
    return response.ok ? { serverlessUrl, apiKey } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Objects that still exist in the service, as `kind name`; empty if there are none.
 * @param {ServiceAccess} service
 * @returns {Promise<string[]>}
 */
export async function remainingObjects({ serverlessUrl, apiKey }) {
  const query = "{ myself { endpoints { name } podTemplates { name } networkVolumes { name } secrets { name } } }";
  const response = await fetch(`${serverlessUrl}/graphql`, {
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

/**
 * @param {string} addressFile
 * @returns {Promise<{ serverlessUrl: string, pid: number } | undefined>}
 */
async function readAddress(addressFile) {
  try {
    return JSON.parse(await readFile(addressFile, "utf8"));
  } catch {
    return undefined;
  }
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
