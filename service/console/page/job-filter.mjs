import { endpointAddress, goTo, maxSearchLength, states } from "./address.mjs";
import { h } from "./dom.mjs";

/** @typedef {import("./address.mjs").JobFilter} JobFilter */

/** Pause in typing before a search starts, ms. */
const typingDelay = 300;

/**
 * The form that filters an endpoint's jobs. The filter is part of the address. The form manages its own elements.
 * @param {string} endpoint Id or name, as in the address.
 */
export function createJobFilter(endpoint) {
  const select = /** @type {HTMLSelectElement} */ (
    h(
      "select",
      { id: "filter-state" },
      h("option", { value: "" }, "All states"),
      Object.entries(states).map(([state, label]) => h("option", { value: state }, label)),
    )
  );
  const search = /** @type {HTMLInputElement} */ (
    h("input", {
      id: "filter-search",
      type: "search",
      maxlength: maxSearchLength,
      spellcheck: "false",
      autocomplete: "off",
      placeholder: "part of an id or error",
    })
  );
  const form = h(
    "form",
    { role: "search", class: "filter", "aria-label": "Jobs" },
    h("label", { for: "filter-state" }, "State"),
    select,
    h("label", { for: "filter-search" }, "Search"),
    search,
  );
  /** True once the typed text has its own history entry. */
  let hasHistoryEntry = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function apply() {
    clearTimeout(timer);
    timer = undefined;
    const hash = endpointAddress(endpoint, { state: select.value, search: search.value.trim() });
    if (hash !== location.hash) goTo(hash, hasHistoryEntry);
  }
  function applyText() {
    apply();
    hasHistoryEntry = true;
  }
  select.addEventListener("change", () => {
    hasHistoryEntry = false;
    apply();
  });
  search.addEventListener("focus", () => {
    hasHistoryEntry = false;
  });
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(applyText, typingDelay);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    applyText();
  });

  return {
    element: h("div", { "data-own": true, "data-key": "filter" }, form),
    /**
     * Shows the filter of the address, unless newer text has been typed.
     * @param {JobFilter} filter
     */
    show(filter) {
      if (timer !== undefined) return;
      select.value = filter.state ?? "";
      if (search.value.trim() !== (filter.search ?? "")) search.value = filter.search ?? "";
    },
  };
}
