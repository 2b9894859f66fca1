/** Addresses of the page's views. The fragment is the route, so that reload, Back and copied links restore a view. */

/**
 * @typedef {{ state?: string, search?: string }} JobFilter State of a job, and part of its id or error.
 * @typedef {{ endpoint: string, filter: JobFilter, job?: string }} EndpointRoute `endpoint` is an id or a name. `job` is an id.
 * @typedef {{ view: "endpoints" | "resources" } | { view: "endpoint" } & EndpointRoute} Route
 */

/** States of a job with their labels. */
export const states = {
  IN_QUEUE: "In queue",
  IN_PROGRESS: "In progress",
  COMPLETED: "Completed",
  FAILED: "Failed",
  TIMED_OUT: "Timed out",
  CANCELLED: "Cancelled",
};

/** Maximum length of a search text, in characters. The service rejects a longer one. */
export const maxSearchLength = 200;

/**
 * The query of a filter, for the fragment and for requests; empty without a filter.
 * @param {JobFilter} filter
 */
export function filterQuery({ state, search }) {
  const query = new URLSearchParams();
  if (state) query.set("state", state);
  if (search) query.set("search", search);
  return query.toString();
}

/**
 * @param {string} endpoint Id or name.
 * @param {JobFilter} [filter]
 */
export function endpointAddress(endpoint, filter = {}) {
  const query = filterQuery(filter);
  return `#/endpoints/${encodeURIComponent(endpoint)}${query && `?${query}`}`;
}

/**
 * @param {string} endpoint Id or name.
 * @param {string} job
 */
export const jobAddress = (endpoint, job) => `${endpointAddress(endpoint)}/jobs/${encodeURIComponent(job)}`;

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The view of a fragment; the list of endpoints for an unknown one.
 * @param {string} hash
 * @returns {Route}
 */
export function routeOf(hash) {
  const [, path = "", query = ""] = /^#\/?([^?]*)\??(.*)$/s.exec(hash) ?? [];
  const [view, endpoint = "", part, job = ""] = path.split("/").map(decode);
  if (view === "resources") return { view };
  if (view !== "endpoints" || endpoint === "") return { view: "endpoints" };
  if (part === "jobs" && job !== "")
    return { view: "endpoint", endpoint, filter: { search: job.slice(0, maxSearchLength) }, job };
  const parameters = new URLSearchParams(query);
  const [state, search] = [parameters.get("state") ?? "", (parameters.get("search") ?? "").slice(0, maxSearchLength)];
  return {
    view: "endpoint",
    endpoint,
    filter: { ...(Object.hasOwn(states, state) ? { state } : {}), ...(search === "" ? {} : { search }) },
  };
}

/**
 * Changes the address; the views follow.
 * @param {string} hash
 * @param {boolean} [isReplacement] True to replace the entry of the browser's history.
 */
export function goTo(hash, isReplacement = false) {
  if (!isReplacement) {
    location.hash = hash;
    return;
  }
  history.replaceState(null, "", hash);
  dispatchEvent(new HashChangeEvent("hashchange"));
}
