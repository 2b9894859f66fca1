import { setTimeout as sleep } from "node:timers/promises";
import { fields } from "../contract/outline.mjs";
import { plannedObjects } from "./objects.mjs";

/**
 * A response; its body is parsed if it is JSON.
 * @typedef {{ status: number, json: Record<string, unknown>, ms: number }} Answer
 * @typedef {(method: string, path: string, body?: object) => Promise<Answer>} Call
 * @typedef {import("./objects.mjs").Planned} Planned
 */

/** Maximum attempts of a delete. */
const deleteAttempts = 4;

/**
 * Creates the minimal set of objects, reads it, and always deletes it. Resolves with true if every step succeeded.
 * @param {{ call: Call, volume: boolean, signal: AbortSignal, print: (line: string) => void }} options Aborting the
 * signal ends the run after the current request; the deletes still follow.
 */
export async function runSmoke({ call, volume, signal, print }) {
  let isPassed = true;
  /** @param {string} title @param {Answer} response @param {number} expected */
  const note = (title, { status, json, ms }, expected) => {
    const detail = typeof json["detail"] === "string" ? `: ${json["detail"]}` : "";
    if (status !== expected) isPassed = false;
    print(
      `${status === expected ? "ok    " : "FAILED"}  ${title}: ${status} in ${ms} ms${status === expected ? "" : detail}`,
    );
    return status === expected;
  };
  /** @param {string} title @param {() => Promise<Answer>} request @param {number} expected */
  const step = async (title, request, expected) => {
    signal.throwIfAborted();
    const response = await request();
    return note(title, response, expected) ? response.json : undefined;
  };

  /** @type {{ plannedObject: Planned, id: unknown }[]} */
  const attempted = [];
  try {
    const gpus = await step("read the GPU types", () => call("GET", "/catalog/gpus"), 200);
    const dataCenters = await step("read the data centres", () => call("GET", "/catalog/datacenters"), 200);
    const lists = { gpus: gpus?.["gpus"], dataCenters: dataCenters?.["dataCenters"] };
    for (const plannedObject of plannedObjects({ ...lists, volume })) {
      signal.throwIfAborted();
      const attempt = { plannedObject, id: /** @type {unknown} */ (undefined) };
      attempted.push(attempt);
      const response = await step(
        `create the ${plannedObject.kind}`,
        () => call("POST", plannedObject.path, plannedObject.body),
        201,
      );
      attempt.id = response?.["id"];
      if (response === undefined) break;
      await step(`read the ${plannedObject.kind}`, () => call("GET", `${plannedObject.path}/${attempt.id}`), 200);
      await step(`list the ${plannedObject.kind}s`, () => call("GET", plannedObject.path), 200);
    }
  } catch (error) {
    isPassed = false;
    print(
      signal.aborted
        ? "stopped: deleting the created objects"
        : `FAILED  ${error instanceof Error ? error.message : error}`,
    );
  }
  for (const { plannedObject, id } of attempted.reverse()) {
    try {
      const foundId = id ?? (await idByName(call, plannedObject));
      if (foundId === undefined) continue;
      const response = await remove(call, `${plannedObject.path}/${foundId}`);
      // Deleting an endpoint may delete its template.
      const outcome = response.status === 404 ? { ...response, status: 204 } : response;
      if (note(`delete the ${plannedObject.kind}`, outcome, 204)) continue;
    } catch (error) {
      print(`FAILED  delete the ${plannedObject.kind}: ${error instanceof Error ? error.message : error}`);
    }
    isPassed = false;
    print(`LEFT    ${plannedObject.kind} ${plannedObject.body["name"]}; delete it in the console`);
  }
  return isPassed;
}

/**
 * The id of an object whose create had no response; undefined if it does not exist.
 * @param {Call} call
 * @param {Planned} plannedObject
 */
async function idByName(call, { path, list, body }) {
  let query = "";
  for (;;) {
    const { status, json } = await call("GET", `${path}${query}`);
    if (status !== 200) throw new Error(`GET ${path} responded with ${status}`);
    const rows = Array.isArray(json[list]) ? json[list].map(fields) : [];
    const match = rows.find((row) => row["name"] === body["name"]);
    const { hasNextPage, nextCursor } = fields(json["pagination"]);
    if (match || !hasNextPage) return match?.["id"];
    query = `?cursor=${encodeURIComponent(String(nextCursor))}`;
  }
}

/**
 * Deletes an object, with retries unless the key is rejected: a template may be in use for a moment after its endpoint.
 * @param {Call} call
 * @param {string} path
 * @returns {Promise<Answer>}
 */
async function remove(call, path, attempt = 1) {
  const lastError = attempt === deleteAttempts;
  const response = await call("DELETE", path).catch((error) => {
    if (lastError) throw error;
    return undefined;
  });
  if (response && (lastError || [204, 401, 403, 404].includes(response.status))) return response;
  await sleep(1000 * attempt);
  return remove(call, path, attempt + 1);
}
