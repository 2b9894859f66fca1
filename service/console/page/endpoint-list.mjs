import { endpointAddress } from "./address.mjs";
import { h } from "./dom.mjs";
import { noEndpoint } from "./next-steps.mjs";

/** @typedef {import("./connection.mjs").Endpoint} Endpoint */

/**
 * A labelled number.
 * @param {string} label
 * @param {string | number} value
 * @param {string} [tone]
 */
export const count = (label, value, tone = "") =>
  h(
    "div",
    { class: `count ${Number(value) > 0 ? tone : ""}`, "data-key": label },
    h("dt", {}, label),
    h("dd", {}, value),
  );

/**
 * A dot for each worker, coloured by its status.
 * @param {Endpoint} endpoint
 */
export function workerDots({ running, workersMax, workers }) {
  const statuses = running.map(({ status }) => status).sort();
  const text = statuses.length === 0 ? "no worker is up" : statuses.join(", ");
  const throttled = workers["throttled"] ?? 0;
  return h(
    "span",
    { class: "dots", role: "img", "aria-label": `Workers: ${text}`, title: text },
    statuses.slice(0, 12).map((status, index) => h("i", { class: `dot ${status}`, "data-key": index })),
    h("span", { class: "of" }, `${running.length} of ${workersMax}${throttled > 0 ? ", waiting to start" : ""}`),
  );
}

/** @param {Endpoint} endpoint */
const card = (endpoint) => {
  const { id, name, imageName, jobs, message } = endpoint;
  return h(
    "li",
    { "data-key": id },
    h(
      "a",
      { class: "card", href: endpointAddress(id) },
      h("span", { class: "card-title" }, h("strong", {}, name), workerDots(endpoint)),
      h("span", { class: "card-image" }, imageName ?? "template deleted"),
      h("span", { class: "card-image" }, id),
      h(
        "dl",
        { class: "counts" },
        count("in queue", jobs.inQueue, "waits"),
        count("running", jobs.inProgress, "busy"),
        count("completed", jobs.completed),
        count("failed", jobs.failed, "bad"),
      ),
      message !== undefined && h("span", { class: "warning" }, message.split("\n")[0]),
    ),
  );
};

/** @param {Endpoint[] | undefined} endpoints */
export function endpointList(endpoints) {
  if (!endpoints) return loading();
  return h(
    "section",
    { "data-key": "list" },
    h("h1", {}, "Endpoints"),
    endpoints.length === 0 ? noEndpoint() : h("ul", { class: "cards" }, endpoints.map(card)),
  );
}

/** The page until the first data arrives. */
export const loading = () => h("section", { "data-key": "loading" }, h("p", { class: "quiet" }, "Loading…"));

/**
 * The page for an endpoint in the address that does not exist, or for a name that several endpoints have.
 * @param {string} idOrName Id or name.
 * @param {Endpoint[]} matches The endpoints with this name.
 */
export const endpointChoice = (idOrName, matches) =>
  h(
    "section",
    { "data-key": "choice" },
    h("h1", {}, matches.length > 0 ? `${matches.length} endpoints are named ${idOrName}` : "There is no such endpoint"),
    matches.length > 0
      ? h("ul", { class: "cards" }, matches.map(card))
      : h("p", {}, "No endpoint has the id or name ", h("code", {}, idOrName), ". It may have been deleted."),
    h("p", {}, h("a", { href: "#/" }, "All endpoints")),
  );
