import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../entry.mjs";
import { startProcess } from "../quickstart/service-process.mjs";

const require = createRequire(import.meta.url);
/** @type {typeof import("../../provider/process/run-bundle.js")} */
const { runBundle } = require("../../provider/dist/process/run-bundle.js");
/** @type {typeof import("../../provider/protocol/messages.js")} */
const messages = require("../../provider/dist/protocol/messages.js");
/** @type {typeof import("../../provider/lifecycle/contract.js")} */
const contract = require("../../provider/dist/lifecycle/contract.js");

/** @typedef {import("../../provider/lifecycle/failures.js").PropertySet} PropertySet */

/** @param {PropertySet["properties"]} properties @returns {PropertySet} */
const plain = (properties) => ({ properties, secretPaths: [] });

/**
 * Deploys one resource of each common kind with the engine's calls: create, diff, read and delete.
 * @param {import("../../provider/plugin/main.js").DeploymentCalls} calls
 * @param {PropertySet} settings
 */
async function rehearse(calls, settings) {
  /**
   * @template Request, Response
   * @param {keyof typeof calls} name
   * @param {import("../../provider/protocol/protobuf.js").Message<Request>} request
   * @param {import("../../provider/protocol/protobuf.js").Message<Response>} response
   * @param {Partial<Request>} values
   */
  const call = async (name, request, response, values) =>
    response.decode(Buffer.concat([await calls[name](request.encode(values))].flat()));
  const { checkRequest, checkResponse, createRequest, createResponse, diffRequest, diffResponse, empty } = messages;
  const urnOf = (/** @type {string} */ kind) => `urn:pulumi:dev::rehearsal::serverless-compute:index:${kind}::one`;

  await call("CheckConfig", checkRequest, checkResponse, { olds: settings, news: settings });
  await call("DiffConfig", diffRequest, diffResponse, { olds: settings, news: settings });
  await call("Configure", messages.configureRequest, messages.configureResponse, { args: settings });
  /** @type {{ id: string, urn: string, inputs: PropertySet, outputs: PropertySet }[]} */
  const made = [];
  const make = async (/** @type {string} */ kind, /** @type {PropertySet["properties"]} */ properties) => {
    const urn = urnOf(kind);
    const { inputs } = await call("Check", checkRequest, checkResponse, { urn, news: plain(properties) });
    await call("Create", createRequest, createResponse, { urn, properties: inputs, preview: true });
    const { id, properties: outputs } = await call("Create", createRequest, createResponse, {
      urn,
      properties: inputs,
    });
    made.unshift({ id, urn, inputs, outputs });
    return id;
  };
  // As in the preview of a new stack, where the template's id is unknown.
  const unmade = plain({ templateId: contract.Unknown.value });
  await call("Check", checkRequest, checkResponse, { urn: urnOf("ServerlessEndpoint"), news: unmade });
  const networkVolumeId = await make("NetworkVolume", { size: 10, dataCenterId: "EU-RO-1" });
  const templateId = await make("Template", { imageName: "acme/echo:1", containerDiskInGb: 5, env: { MODEL: "one" } });
  await make("ServerlessEndpoint", { templateId, networkVolumeId, workersMax: 0 });
  for (const { id, urn, inputs, outputs } of made) {
    await call("Read", messages.readRequest, messages.readResponse, { id, urn, properties: outputs, inputs });
    await call("Check", checkRequest, checkResponse, { urn, olds: inputs, news: inputs });
    await call("Diff", diffRequest, diffResponse, { id, urn, olds: outputs, news: inputs });
  }
  for (const { id, urn, outputs } of made)
    await call("Delete", messages.deleteRequest, empty, { id, urn, properties: outputs });
  await call("Cancel", empty, empty, {});
}

/**
 * Creates the code caches of the bundles in a folder, in a child process. A cache contains the functions that ran
 * before its creation; others are compiled on call. Therefore a deployment to a local service runs first.
 * @param {string} folder
 */
async function makeCaches(folder) {
  /** @type {(() => void)[]} */
  const missing = [];
  /** @type {{ rest?: import("../../provider/plugin/main.js").Rest }} */
  const { rest } = runBundle(join(folder, "deployment.js"), (keep) => void missing.push(keep));
  const data = mkdtempSync(join(tmpdir(), "code-caches-"));
  const flags = ["start", "--json", "--port", "0", "--data", data, "--template-release", "0"];
  const program = join(root, "service", "bin", "serverless-compute-local.js");
  const { line, ended, stop } = await startProcess({ args: [program, ...flags], folder: data, env: undefined });
  try {
    if (line === undefined) throw new Error(`The local service did not start.\n${await ended}`);
    const { url, apiKeyFile } = JSON.parse(line);
    const apiKey = readFileSync(apiKeyFile, "utf8").trim();
    const calls = rest?.begin(createServer(), () => undefined);
    if (calls) await rehearse(calls, plain({ apiKey, url }));
  } finally {
    await stop();
    rmSync(data, { recursive: true, force: true });
    // Without API calls the clients have not run; their cache is replaced only if they have.
    runBundle(join(folder, "deployment-clients.js"), (keep) => void missing.unshift(keep));
    // Also after a failed deployment, which has run most functions.
    for (const keep of missing) keep();
  }
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("Usage: node scripts/release/code-caches.mjs <folder>");
await makeCaches(folder);
process.exit(0);
