import { call } from "./connection.mjs";
import { h, morphChildren } from "./dom.mjs";
import { curlCopied, curlOf, isOver, isRetryable, pretty, toneOf } from "./format.mjs";
import { rememberedInput, rememberInput } from "./remembered-input.mjs";

/** @typedef {{ id?: string, status: string, output?: string, error?: string, chunks?: string[] }} Result */

/** Ways to submit a job, with their descriptions. */
const ways = {
  run: "queue it and show its record when it is over",
  runsync: "wait for its result in one request",
  stream: "queue it and show what its handler yields, as it comes",
};

/** Time that one request waits for the end of a job, ms. After it, the form shows whether the job runs. */
const waitOfOne = 1000;

/** Initial input of the form. */
const firstInput = '{\n  "prompt": "Hello"\n}';

/**
 * The form that submits jobs to an endpoint, with the result of the last one. It keeps its own elements.
 * @param {string} endpointId
 * @param {(text: string) => void} notify Shows a short-lived message.
 */
export function createJobForm(endpointId, notify) {
  const input = /** @type {HTMLTextAreaElement} */ (
    h("textarea", { id: "input", rows: 8, spellcheck: "false", "aria-describedby": "input-fault input-keys" })
  );
  input.value = rememberedInput(endpointId) ?? firstInput;
  const fault = h("p", { id: "input-fault", class: "fault", role: "alert" });
  const result = h("div", { class: "result", id: "result", "aria-live": "polite" });
  const options = Object.entries(ways).map(([way, does], at) =>
    h("label", { title: does }, h("input", { type: "radio", name: "way", value: way, checked: at === 0 }), way),
  );
  const form = /** @type {HTMLFormElement} */ (
    h(
      "form",
      {},
      h("label", { for: "input", class: "label" }, "Input (JSON)"),
      input,
      fault,
      h("fieldset", { class: "ways" }, h("legend", { class: "hidden" }, "How to submit it"), options),
      h(
        "div",
        { class: "actions" },
        h("button", { class: "primary", type: "submit" }, "Run job"),
        h("button", { type: "button", "data-copy": true }, "Copy as curl"),
        h("span", { class: "quiet", id: "input-keys" }, "Ctrl+Enter runs it"),
      ),
    )
  );
  /** Counts what is shown: a later job takes the place of an earlier one. */
  let shown = 0;

  const way = () => String(new FormData(form).get("way"));

  /** The input as it goes out; undefined with a word about what is wrong with it. */
  function checked() {
    fault.textContent = "";
    input.removeAttribute("aria-invalid");
    try {
      const value = JSON.parse(input.value);
      if (typeof value === "object" && value !== null && !Array.isArray(value)) return input.value.trim();
      fault.textContent = "The input must be a JSON object, such as {}.";
    } catch (error) {
      fault.textContent = `The input is not JSON: ${error instanceof Error ? error.message : error}`;
    }
    input.setAttribute("aria-invalid", "true");
    input.focus();
    return undefined;
  }

  /** @param {Result} one */
  function show(one) {
    const { id, status, output, error, chunks } = one;
    const known = id !== undefined;
    const action = { "data-subject": id, type: "button" };
    morphChildren(result, [
      h(
        "div",
        { class: "result-head" },
        h("span", { class: `state ${toneOf(status)}` }, status),
        known && h("code", {}, id),
        known && !isOver(status) && h("button", { ...action, "data-action": "cancel", "data-key": "cancel" }, "Cancel"),
        known &&
          isRetryable(status) &&
          h("button", { ...action, "data-action": "retry", "data-key": "retry" }, "Retry"),
      ),
      ...(chunks
        ? [
            h(
              "ol",
              { class: "chunks", "aria-label": "Stream" },
              chunks.map((chunk) => h("li", {}, chunk)),
            ),
          ]
        : []),
      ...(error === undefined ? [] : [h("pre", { class: "bad", tabindex: 0, "aria-label": "Error" }, error)]),
      ...(output === undefined ? [] : [h("pre", { tabindex: 0, "aria-label": "Output" }, pretty(output))]),
    ]);
  }

  /**
   * Shows a job until it is over.
   * @param {string} id
   * @param {boolean} streams
   */
  async function follow(id, streams) {
    const mine = ++shown;
    /** @type {string[]} */
    const chunks = [];
    const show1 = (/** @type {Result} */ one) => {
      if (mine === shown) show({ ...one, id, ...(streams ? { chunks } : {}) });
    };
    show1({ status: "IN_QUEUE" });
    for (let done = !streams; !done && mine === shown; ) {
      const { status, stream } = JSON.parse(await call("GET", `v2/${endpointId}/stream/${id}`));
      chunks.push(...stream.map((/** @type {{ output: unknown }} */ { output }) => textOf(output)));
      show1({ status });
      done = isOver(status);
    }
    for (let done = false; !done && mine === shown; ) {
      const text = await call("GET", `v2/${endpointId}/status-sync/${id}?wait=${waitOfOne}`);
      const record = resultOf(text);
      show1(record);
      done = isOver(record.status);
    }
  }

  async function submit() {
    const text = checked();
    if (text === undefined) return;
    rememberInput(endpointId, input.value);
    const body = `{"input":${text}}`;
    if (way() === "runsync") {
      shown++;
      show({ status: "IN_PROGRESS" });
      const answer = await call("POST", `v2/${endpointId}/runsync`, body);
      const { id } = JSON.parse(answer);
      const record = resultOf(answer);
      show({ ...record, id });
      if (!isOver(record.status)) await follow(id, false);
      return;
    }
    const streams = way() === "stream";
    const { id } = JSON.parse(await call("POST", `v2/${endpointId}/run`, body));
    await follow(id, streams);
  }
  /** @param {Promise<void>} work */
  const told = (work) =>
    work.catch((error) => {
      shown++;
      show({ status: "FAILED", error: error instanceof Error ? error.message : String(error) });
    });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void told(submit());
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  form.querySelector("[data-copy]")?.addEventListener("click", async () => {
    const text = checked();
    if (text === undefined) return;
    await navigator.clipboard.writeText(curlOf(endpointId, way() === "runsync" ? "runsync" : "run", text));
    notify(curlCopied);
  });

  return {
    element: h("div", { "data-own": true, "data-key": "form" }, form, result),
    /**
     * Shows a job that was queued again.
     * @param {string} id
     */
    follow: (id) => void told(follow(id, false)),
    /** @param {string} text */
    fill(text) {
      input.value = pretty(text);
      input.focus();
    },
  };
}

/** @param {unknown} value */
const textOf = (value) => (typeof value === "string" ? value : JSON.stringify(value));

/**
 * Reads a record; its output stays the text that came.
 * @param {string} text
 * @returns {Result}
 */
export function resultOf(text) {
  const { status, error, output } = JSON.parse(text);
  if (output === undefined) return { status, error };
  // The output is the last member of a record.
  const [, sent] = /"output":(.*)\}$/s.exec(text) ?? [];
  return { status, error, output: sent ?? JSON.stringify(output) };
}
