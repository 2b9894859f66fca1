import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isAlive } from "../child.mjs";
import { startProcess } from "./service-process.mjs";

/**
 * How a running local service can be reached; what `start --json` prints.
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
 * @property {string} consoleUrl A link that opens the service's console once. It is noted nowhere.
 * @property {boolean} moved Whether it had other addresses the last time, which the stack's state then still has.
 * @property {Promise<string>} ended Resolves when it has ended, with the last lines it wrote.
 * @property {() => Promise<void>} stop Stops it in order.
 */

/**
 * @typedef {object} ServicePlan
 * @property {string} folder Where it runs: handler files are named from there.
 * @property {string[]} [program] Arguments of Node that run its command line. Default: its build.
 * @property {NodeJS.ProcessEnv} [env]
 * @property {string} dataFolder
 * @property {string} addressFile Where its addresses are noted while it runs.
 * @property {Record<string, string>} images Image name → handler file.
 * @property {number} templateRelease Seconds.
 */

/** The command line's build. */
const built = fileURLToPath(new URL("../../service/bin/serverless-compute-local.js", import.meta.url));

/** The port that clients try when they are told no address. */
const defaultPort = 7337;

/** How long an earlier service may take to end, in milliseconds. */
const patience = 20_000;

/**
 * Starts the local service as a process of its own that ends with this one.
 * @param {ServicePlan} plan
 * @returns {Promise<RunningService>}
 */
export async function startService(plan) {
  const { folder, program = [built], env, dataFolder, addressFile, images, templateRelease } = plan;
  const earlier = await readAddresses(addressFile);
  if (earlier !== undefined) await gone(earlier.pid);
  const mapped = Object.entries(images).flatMap(([name, file]) => ["--image", `${name}=${file}`]);
  const args = [...program, "start", "--json", "--data", dataFolder, ...mapped];
  const flags = ["--template-release", String(templateRelease)];
  /** @param {number} port */
  const launch = (port) => startProcess({ args: [...args, ...flags, "--port", String(port)], folder, env });

  const wanted = [earlier ? Number(new URL(earlier.baseUrl).port) : defaultPort, defaultPort];
  const port = await freePort(wanted);
  let running = await launch(port);
  // Somebody else may have taken the port in the moment since it was looked at.
  if (running.line === undefined && (await freePort([port])) !== port) running = await launch(0);
  const { line, ended, stop } = running;
  if (line === undefined) throw new Error(`The local service did not start.\n${await ended}`);

  const started = JSON.parse(line);
  const told = toAddresses(started);
  const addresses = { ...told, apiKeyFile: resolve(folder, told.apiKeyFile) };
  await writeFile(addressFile, JSON.stringify(addresses));
  const apiKey = (await readFile(addresses.apiKeyFile, "utf8")).trim();
  const moved = earlier !== undefined && earlier.serverlessUrl !== addresses.serverlessUrl;
  return { addresses, apiKey, consoleUrl: String(started.consoleUrl), moved, ended, stop };
}

/**
 * The service that another script has open, if it answers.
 * @param {string} addressFile
 */
export async function findService(addressFile) {
  const addresses = await readAddresses(addressFile);
  // Somebody else may have the port by now, who must not be sent the key.
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
 * What the service still holds, as `kind name` texts; empty when nothing is left.
 * @param {{ addresses: ServiceAddresses, apiKey: string }} service
 * @returns {Promise<string[]>}
 */
export async function holdings({ addresses, apiKey }) {
  const query = "{ myself { endpoints { name } podTemplates { name } networkVolumes { name } secrets { name } } }";
  const response = await fetch(addresses.graphqlUrl, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ query }),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  if (!response.ok || !text.startsWith('{"data"'))
    throw new Error(`The local service could not list what it holds: ${text}`);
  /** @type {{ data: { myself: Record<string, { name: string }[]> } }} */
  const { data } = JSON.parse(text);
  return Object.entries(data.myself).flatMap(([kind, found]) => found.map(({ name }) => `${kind} ${name}`));
}

/**
 * Waits for an earlier service whose script was killed: it is still stopping, and has the data folder until then.
 * @param {number} pid
 */
async function gone(pid) {
  const began = performance.now();
  while (isAlive(pid) && performance.now() - began < patience) await sleep(100);
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
 * The first of these ports that nobody listens on; 0, which takes any, when all are taken.
 * @param {number[]} ports
 */
async function freePort(ports) {
  for (const port of ports) {
    const free = await new Promise((settle) => {
      const server = createServer();
      server.once("error", () => settle(false));
      server.listen(port, "127.0.0.1", () => server.close(() => settle(true)));
    });
    if (free) return port;
  }
  return 0;
}
