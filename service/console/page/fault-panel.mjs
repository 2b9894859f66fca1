import { call } from "./connection.mjs";
import { h, morphChildren } from "./dom.mjs";

/**
 * @typedef {Record<string, number | string | boolean>} Faults The service's faults by name.
 * @typedef {object} Kind
 * @property {string} name
 * @property {string} label
 * @property {string | true} [value] The only value; without it, a number.
 * @property {string} [unit] Of the number.
 * @property {number} [initial]
 * @property {number} [max]
 * @property {(value: number) => string} [left] End of the label of an active fault.
 */

/** @param {number} count */
const nextText = (count) => `: next ${count}`;

/** Largest count of a fault. */
const maxCount = 1_000_000;

/** @type {Kind[]} */
const kinds = [
  { name: "delay", label: "Delay requests", unit: "ms", initial: 1000, max: 600_000, left: (ms) => ` by ${ms} ms` },
  { name: "tooManyRequests", label: "Reject requests with 429", unit: "requests" },
  { name: "serverErrors", label: "Reject requests with 500", unit: "requests" },
  { name: "dropResponses", label: "Drop responses", unit: "responses" },
  { name: "failJobs", label: "Fail jobs", unit: "jobs" },
  { name: "crashJobs", label: "Crash workers when they begin a job", unit: "jobs" },
  { name: "workers", label: "Workers crash at their start", value: "crash" },
  { name: "workers", label: "Workers never request a job", value: "hang" },
  { name: "noStock", label: "No stock: workers cannot start", value: true },
  { name: "stripEmptyInput", label: "Workers receive no empty inputs", value: true },
];

/**
 * The panel with an endpoint's injected faults, which sets and removes them. It manages its own elements.
 * @param {string} endpointId
 */
export function createFaultPanel(endpointId) {
  const select = /** @type {HTMLSelectElement} */ (
    h(
      "select",
      { id: "fault-kind" },
      kinds.map(({ label }, index) => h("option", { value: index }, label)),
    )
  );
  const number = /** @type {HTMLInputElement} */ (
    h("input", { id: "fault-value", type: "number", min: 1, step: 1, required: true, value: 1 })
  );
  const unit = h("label", { for: "fault-value" });
  const fault = h("p", { class: "fault", role: "alert" });
  const form = h(
    "form",
    { class: "filter", "aria-label": "Inject a fault" },
    h("label", { for: "fault-kind" }, "Fault"),
    select,
    h("span", { class: "with-unit" }, number, unit),
    h("button", { type: "submit" }, "Inject"),
  );
  const summary = /** @type {HTMLElement} */ (h("summary", {}, "Inject a fault"));
  const list = h("div", {});

  const kind = () => kinds[Number(select.value)] ?? kinds[0];
  function updateInputs() {
    const { value, unit: unitText = "", initial = 1, max = maxCount } = kind() ?? {};
    const isCount = value === undefined;
    number.disabled = !isCount;
    number.parentElement?.toggleAttribute("hidden", !isCount);
    number.max = String(max);
    number.value = String(initial);
    unit.textContent = unitText;
    fault.textContent = "";
  }

  /** @param {Faults} faults */
  function update(faults) {
    const active = kinds.filter(({ name, value }) => (value === undefined ? faults[name] : faults[name] === value));
    const rows = active.map(({ name, label, value, left = nextText }) => {
      const text = value === undefined ? `${label}${left(Number(faults[name]))}` : label;
      const remove = {
        type: "button",
        "data-action": "removeFault",
        "data-subject": name,
        "aria-label": `Remove: ${label}`,
      };
      return h("li", { "data-key": name }, h("span", {}, text), h("button", remove, "Remove"));
    });
    morphChildren(list, [
      h("h2", {}, "Injected faults ", h("span", { class: "number" }, active.length || "none")),
      ...(rows.length > 0 ? [h("ul", { class: "faults", "aria-label": "Injected faults" }, rows)] : []),
    ]);
  }

  /** @param {Record<string, unknown>} changes Values by name; null removes a fault. */
  const sendChanges = async (changes) =>
    update(JSON.parse(await call("PATCH", `api/endpoints/${endpointId}/faults`, JSON.stringify(changes))));

  select.addEventListener("change", updateInputs);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    fault.textContent = "";
    const { name = "", value = Number(number.value) } = kind() ?? {};
    await sendChanges({ [name]: value }).catch((error) => {
      fault.textContent = error instanceof Error ? error.message : String(error);
    });
  });
  updateInputs();
  update({});

  return {
    element: h(
      "div",
      { "data-own": true, "data-key": "faults" },
      h(
        "section",
        { class: "panel" },
        list,
        h(
          "details",
          {},
          summary,
          form,
          fault,
          h(
            "p",
            { class: "quiet hint" },
            "Requests of this page are neither delayed, rejected nor dropped. Faults end with the service.",
          ),
        ),
      ),
    ),
    update,
    /** @param {string} name */
    async remove(name) {
      await sendChanges({ [name]: null });
      summary.focus();
    },
  };
}
