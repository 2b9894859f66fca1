import { filterQuery } from "./address.mjs";
import { call } from "./connection.mjs";

/** @typedef {import("./address.mjs").JobFilter} JobFilter */
/** @typedef {import("./connection.mjs").JobPage} JobPage */

/**
 * The displayed page of an endpoint's jobs: the newest, which is live, or an older one.
 * @param {string} endpointId
 * @param {() => void} requestRender
 */
export function createJobPages(endpointId, requestRender) {
  /** @type {JobFilter} */
  let filter = {};
  /** @type {JobPage | undefined} */
  let newest;
  /** @type {JobPage | undefined} */
  let older;
  let pageNumber = 1;

  function toNewest() {
    older = undefined;
    pageNumber = 1;
    requestRender();
  }

  return {
    get filter() {
      return filter;
    },
    get shown() {
      return older ?? newest;
    },
    /** Page number; the newest is 1. */
    get pageNumber() {
      return pageNumber;
    },
    /** @param {JobFilter} newFilter */
    setFilter(newFilter) {
      if (filterQuery(newFilter) === filterQuery(filter)) return;
      filter = newFilter;
      newest = undefined;
      toNewest();
    },
    /** @param {JobPage} page */
    update(page) {
      newest = page;
      requestRender();
    },
    toNewest,
    async toOlder() {
      const before = (older ?? newest)?.before ?? 1;
      const requestedFilter = filter;
      const text = await call("GET", `api/endpoints/${endpointId}/jobs?before=${before}&${filterQuery(filter)}`);
      if (requestedFilter !== filter) return;
      older = JSON.parse(text);
      pageNumber++;
      requestRender();
    },
  };
}
