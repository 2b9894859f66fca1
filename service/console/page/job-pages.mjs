import { filterQuery } from "./address.mjs";
import { call } from "./connection.mjs";

/** @typedef {import("./address.mjs").JobFilter} JobFilter */
/** @typedef {import("./connection.mjs").JobPage} JobPage */

/**
 * The page of an endpoint's jobs that is shown: the newest, which is live, or an older one.
 * @param {string} endpointId
 * @param {() => void} changed
 */
export function createJobPages(endpointId, changed) {
  /** @type {JobFilter} */
  let filter = {};
  /** @type {JobPage | undefined} */
  let newest;
  /** @type {JobPage | undefined} */
  let older;
  let number = 1;

  function toNewest() {
    older = undefined;
    number = 1;
    changed();
  }

  return {
    get filter() {
      return filter;
    },
    get shown() {
      return older ?? newest;
    },
    /** From 1, the newest. */
    get number() {
      return number;
    },
    /** @param {JobFilter} wanted */
    setFilter(wanted) {
      if (filterQuery(wanted) === filterQuery(filter)) return;
      filter = wanted;
      newest = undefined;
      toNewest();
    },
    /** @param {JobPage} page */
    update(page) {
      newest = page;
      changed();
    },
    toNewest,
    async toOlder() {
      const before = (older ?? newest)?.before ?? 1;
      const asked = filter;
      const text = await call("GET", `api/endpoints/${endpointId}/jobs?before=${before}&${filterQuery(filter)}`);
      if (asked !== filter) return;
      older = JSON.parse(text);
      number++;
      changed();
    },
  };
}
