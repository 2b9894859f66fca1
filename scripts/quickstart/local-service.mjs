import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isAlive } from "../child.mjs";
import { startProcess } from "./service-process.mjs";

/**
 * Addresses of a running local service, as printed by `start --json`.
 * @typedef {object} ServiceAddresses
 * @property {string} baseUrl
 * @property {string} graphqlUrl
 * @property {string} serverlessUrl
 * @property {string} apiKeyFile
 * @property {number} pid
 */

/**
 * A local service that this script started.
 * @typedef {object} RunningService
 * @property {ServiceAddresses} addresses
 * @property {string} apiKey
 * @property {string} consoleUrl A link that opens the service's console once. It is not stored.
 * @property {boolean} hasMoved True if the addresses differ from the addresses of the previous run, which are in the stack's state.
 * @property {Promise<string>} exit Resolves after its end, with the last lines of its output.
 * @property {() => Promise<void>} stop Stops it gracefully.
 */

/**
 * @typedef {object} ServicePlan
 * @property {string} folder Working directory; handler files are relative to it.
 * @property {string[]} [program] Node arguments that run its command line. Default: its build.
 * @property {NodeJS.ProcessEnv} [env]
 * @property {string} dataFolder
 * @property {string} addressFile File with its addresses while it runs.
 * @property {Record<string, string>} images Image name → handler file.
 * @property {number} templateRelease Seconds.
 */

/** The built command line. */
const serviceProgram = fileURLToPath(new URL("../../service/bin/serverless-compute-local.js", import.meta.url));

/** Default port of clients. */
const defaultPort = 7337;

/** Maximum time for an earlier service to end, ms. */
const stopTimeout = 20_000;

/**
 * Starts the local service as a child process that ends with this one.
 * @param {ServicePlan} plan
 * @returns {Promise<RunningService>}
 */
export async function startService(plan) {
  const { folder, program = [serviceProgram], env, dataFolder, addressFile, images, templateRelease } = plan;
  const previous = await readAddresses(addressFile);
  if (previous !== undefined) await waitForExit(previous.pid);
  const imageFlags = Object.entries(images).flatMap(([name, file]) => ["--image", `${name}=${file}`]);
  const args = [...program, "start", "--json", "--data", dataFolder, ...imageFlags];
  const flags = ["--template-release", String(templateRelease)];
  /** @param {number} port */
  const launch = (port) => startProcess({ args: [...args, ...flags, "--port", String(port)], folder, env });

  const candidates = [previous ? Number(new URL(previous.baseUrl).port) : defaultPort, defaultPort];
  const port = await freePort(candidates);
  let running = await launch(port);
  // Another process may have bound the port since the check.
  if (running.line === undefined && (await freePort([port])) !== port) running = await launch(0);
  const { line, exit, stop } = running;
  if (line === undefined) throw new Error(`The local service did not start.\n${await exit}`);

  const started = JSON.parse(line);
  const announced = toAddresses(started);
  const addresses = { ...announced, apiKeyFile: resolve(folder, announced.apiKeyFile) };
  await writeFile(addressFile, JSON.stringify(addresses));
  const apiKey = (await readFile(addresses.apiKeyFile, "utf8")).trim();
  const hasMoved = previous !== undefined && previous.serverlessUrl !== addresses.serverlessUrl;
  return { addresses, apiKey, consoleUrl: String(started.consoleUrl), hasMoved, exit, stop };
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

/**
 * Waits for an earlier service whose script was killed: it is still stopping and holds the data folder until then.
 * @param {number} pid
 */
async function waitForExit(pid) {
  const startTime = performance.now();
  while (isAlive(pid) && performance.now() - startTime < stopTimeout) await sleep(100);
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
 * @param {Record<string, unknown>} value
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
