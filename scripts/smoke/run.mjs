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
 * @param {{ call: Call, volume: boolean, signal: AbortSignal, say: (line: string) => void }} options Aborting the
 * signal ends the run after the current request; the deletes still follow.
 */
export async function runSmoke({ call, volume, signal, say }) {
  let good = true;
  /** @param {string} title @param {Answer} response @param {number} expected */
  const note = (title, { status, json, ms }, expected) => {
    const detail = typeof json["detail"] === "string" ? `: ${json["detail"]}` : "";
    if (status !== expected) good = false;
    say(
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

  /** @type {{ planned: Planned, id: unknown }[]} */
  const attempted = [];
  try {
    const gpus = await step("read the GPU types", () => call("GET", "/catalog/gpus"), 200);
    const places = await step("read the data centres", () => call("GET", "/catalog/datacenters"), 200);
    const lists = { gpus: gpus?.["gpus"], dataCenters: places?.["dataCenters"] };
    for (const planned of plannedObjects({ ...lists, volume })) {
      signal.throwIfAborted();
      const attempt = { planned, id: /** @type {unknown} */ (undefined) };
      attempted.push(attempt);
      const made = await step(`create the ${planned.kind}`, () => call("POST", planned.path, planned.body), 201);
      attempt.id = made?.["id"];
      if (made === undefined) break;
      await step(`read the ${planned.kind}`, () => call("GET", `${planned.path}/${attempt.id}`), 200);
      await step(`list the ${planned.kind}s`, () => call("GET", planned.path), 200);
    }
  } catch (error) {
    good = false;
    say(
      signal.aborted
        ? "stopped: deleting the created objects"
        : `FAILED  ${error instanceof Error ? error.message : error}`,
    );
  }
  for (const { planned, id } of attempted.reverse()) {
    try {
      const found = id ?? (await idByName(call, planned));
      if (found === undefined) continue;
      const response = await remove(call, `${planned.path}/${found}`);
      // Deleting an endpoint may delete its template.
      const gone = response.status === 404 ? { ...response, status: 204 } : response;
      if (note(`delete the ${planned.kind}`, gone, 204)) continue;
    } catch (error) {
      say(`FAILED  delete the ${planned.kind}: ${error instanceof Error ? error.message : error}`);
    }
    good = false;
    say(`LEFT    ${planned.kind} ${planned.body["name"]}; delete it in the console`);
  }
  return good;
}

/**
 * The id of an object whose create had no response; undefined if it does not exist.
 * @param {Call} call
 * @param {Planned} planned
 */
async function idByName(call, { path, list, body }) {
  let query = "";
  for (;;) {
    const { status, json } = await call("GET", `${path}${query}`);
    if (status !== 200) throw new Error(`GET ${path} responded with ${status}`);
    const rows = Array.isArray(json[list]) ? json[list].map(fields) : [];
    const found = rows.find((row) => row["name"] === body["name"]);
    const { hasNextPage, nextCursor } = fields(json["pagination"]);
    if (found || !hasNextPage) return found?.["id"];
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
  const last = attempt === deleteAttempts;
  const response = await call("DELETE", path).catch((error) => {
    if (last) throw error;
    return undefined;
  });
  if (response && (last || [204, 401, 403, 404].includes(response.status))) return response;
  await sleep(1000 * attempt);
  return remove(call, path, attempt + 1);
}
