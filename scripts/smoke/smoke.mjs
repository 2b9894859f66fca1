import { parseArgs } from "node:util";
import { fields } from "../contract/outline.mjs";
import { runScript } from "../entry.mjs";
import { runSmoke } from "./run.mjs";

/**
 * `npm run smoke -- --target hosted`: creates a secret, a template and an endpoint without workers (with --volume also
 * a network volume), reads them through REST v2, prints a report, and deletes them, also after Ctrl-C.
 */

const usage = `usage: npm run smoke -- --target hosted|local [--volume] [--url <root of the service>]
The key is read from SERVERLESS_COMPUTE_API_KEY.`;

/** Address of each target. */
const targets = new Map([
  ["hosted", "https://api.runpod.io"],
  ["local", "http://127.0.0.1:7337"],
]);

/** Timeout of a request, ms. */
const requestTimeout = 60_000;

await runScript(async () => {
  const { target = "", volume, url } = readOptions();
  const root = url ?? targets.get(target);
  const key = process.env["SERVERLESS_COMPUTE_API_KEY"];
  if (!targets.has(target) || root === undefined || !key) {
    const problem = key
      ? `--target: is ${target === "" ? "missing" : `"${target}"`}; set it to hosted or local, also with --url`
      : "SERVERLESS_COMPUTE_API_KEY: is not set; set it to the key of the account";
    console.error(`${problem}\n${usage}`);
    return 2;
  }
  const stop = new AbortController();
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) process.on(signal, () => stop.abort());

  /** @type {import("./run.mjs").Call} */
  const call = async (method, path, body) => {
    const startTime = Date.now();
    const response = await fetch(`${root}/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(requestTimeout),
    }).catch((error) => {
      throw new Error(`cannot reach ${root}: ${error.cause?.message || error.cause?.code || error.message}`, {
        cause: error,
      });
    });
    const text = await response.text();
    return { status: response.status, json: parseJson(text), ms: Date.now() - startTime };
  };
  // Redacts the key from all output, including responses.
  const print = (/** @type {string} */ line) => console.log(line.replaceAll(key, "[key]"));
  print(`Smoke test of ${root}/v2`);
  const isPassed = await runSmoke({ call, volume, signal: stop.signal, print });
  print(isPassed ? "passed: all created objects are deleted" : "failed");
  return stop.signal.aborted ? 130 : isPassed ? 0 : 1;
});

function readOptions() {
  try {
    const options = /** @type {const} */ ({
      target: { type: "string" },
      url: { type: "string" },
      volume: { type: "boolean", default: false },
    });
    return parseArgs({ options }).values;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${usage}`);
  }
}

/** @param {string} text */
function parseJson(text) {
  try {
    return fields(JSON.parse(text));
  } catch {
    return {};
  }
}
