import { call } from "./connection.mjs";
import { h, morphChildren } from "./dom.mjs";
import { curlCopied, curlOf, isFinal, isRetryable, pretty, toneOf } from "./format.mjs";
import { rememberedInput, rememberInput } from "./remembered-input.mjs";

/** @typedef {{ id?: string, status: string, output?: string, error?: string, chunks?: string[] }} Result */

/** Ways to submit a job, with their descriptions. */
const submitModes = {
  run: "queue the job and show its record when it ends",
  runsync: "wait for the result in one request",
  stream: "queue the job and show yielded values as they arrive",
};

/** Time that one request waits for the end of a job, ms. After it, the form shows whether the job runs. */
const maxRequestWait = 1000;

/** Initial input of the form. */
const defaultInput = '{\n  "prompt": "Hello"\n}';

/**
 * The form that submits jobs to an endpoint, with the result of the last job. It manages its own elements.
 * @param {string} endpointId
 * @param {(text: string) => void} notify Shows a short-lived message.
 */
export function createJobForm(endpointId, notify) {
  const input = /** @type {HTMLTextAreaElement} */ (
    h("textarea", { id: "input", rows: 8, spellcheck: "false", "aria-describedby": "input-fault input-keys" })
  );
  input.value = rememberedInput(endpointId) ?? defaultInput;
  const fault = h("p", { id: "input-fault", class: "fault", role: "alert" });
  const result = h("div", { class: "result", id: "result", "aria-live": "polite" });
  const options = Object.entries(submitModes).map(([mode, description], index) =>
    h(
      "label",
      { title: description },
      h("input", { type: "radio", name: "way", value: mode, checked: index === 0 }),
      mode,
    ),
  );
  const form = /** @type {HTMLFormElement} */ (
    h(
      "form",
      {},
      h("label", { for: "input", class: "label" }, "Input (JSON)"),
      input,
      fault,
      h("fieldset", { class: "ways" }, h("legend", { class: "hidden" }, "Submit as"), options),
      h(
        "div",
        { class: "actions" },
        h("button", { class: "primary", type: "submit" }, "Run job"),
        h("button", { type: "button", "data-copy": true }, "Copy as curl"),
        h("span", { class: "quiet", id: "input-keys" }, "Ctrl+Enter runs the job"),
      ),
    )
  );
  /** Number of the displayed job; a later job replaces an earlier one. */
  let currentResult = 0;

  const selectedMode = () => String(new FormData(form).get("way"));

  /** Returns the input to send; for an invalid input, shows the problem and returns undefined. */
  function validInput() {
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

  /** @param {Result} jobResult */
  function show(jobResult) {
    const { id, status, output, error, chunks } = jobResult;
    const hasId = id !== undefined;
    const action = { "data-subject": id, type: "button" };
    morphChildren(result, [
      h(
        "div",
        { class: "result-head" },
        h("span", { class: `state ${toneOf(status)}` }, status),
        hasId && h("code", {}, id),
        hasId &&
          !isFinal(status) &&
          h("button", { ...action, "data-action": "cancel", "data-key": "cancel" }, "Cancel"),
        hasId &&
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
   * Displays a job until it is finished.
   * @param {string} id
   * @param {boolean} isStream
   */
  async function followJob(id, isStream) {
    const resultNumber = ++currentResult;
    /** @type {string[]} */
    const chunks = [];
    const showIfCurrent = (/** @type {Result} */ jobResult) => {
      if (resultNumber === currentResult) show({ ...jobResult, id, ...(isStream ? { chunks } : {}) });
    };
    showIfCurrent({ status: "IN_QUEUE" });
    for (let isDone = !isStream; !isDone && resultNumber === currentResult; ) {
      const { status, stream } = JSON.parse(await call("GET", `v2/${endpointId}/stream/${id}`));
      chunks.push(...stream.map((/** @type {{ output: unknown }} */ { output }) => textOf(output)));
      showIfCurrent({ status });
      isDone = isFinal(status);
    }
    for (let isDone = false; !isDone && resultNumber === currentResult; ) {
      const text = await call("GET", `v2/${endpointId}/status-sync/${id}?wait=${maxRequestWait}`);
      const record = resultOf(text);
      showIfCurrent(record);
      isDone = isFinal(record.status);
    }
  }

  async function submit() {
    const text = validInput();
    if (text === undefined) return;
    rememberInput(endpointId, input.value);
    const body = `{"input":${text}}`;
    if (selectedMode() === "runsync") {
      currentResult++;
      show({ status: "IN_PROGRESS" });
      const response = await call("POST", `v2/${endpointId}/runsync`, body);
      const { id } = JSON.parse(response);
      const record = resultOf(response);
      show({ ...record, id });
      if (!isFinal(record.status)) await followJob(id, false);
      return;
    }
    const isStream = selectedMode() === "stream";
    const { id } = JSON.parse(await call("POST", `v2/${endpointId}/run`, body));
    await followJob(id, isStream);
  }
  /** @param {Promise<void>} work */
  const reportFailure = (work) =>
    work.catch((error) => {
      currentResult++;
      show({ status: "FAILED", error: error instanceof Error ? error.message : String(error) });
    });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void reportFailure(submit());
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  form.querySelector("[data-copy]")?.addEventListener("click", async () => {
    const text = validInput();
    if (text === undefined) return;
    await navigator.clipboard.writeText(curlOf(endpointId, selectedMode() === "runsync" ? "runsync" : "run", text));
    notify(curlCopied);
  });

  return {
    element: h("div", { "data-own": true, "data-key": "form" }, form, result),
    /**
     * Displays a requeued job.
     * @param {string} id
     */
    followJob: (id) => void reportFailure(followJob(id, false)),
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
 * Parses a record; the output keeps its original JSON text.
 * @param {string} text
 * @returns {Result}
 */
export function resultOf(text) {
  const { status, error, output } = JSON.parse(text);
  if (output === undefined) return { status, error };
  // The output is the last member of a record.
  const [, outputText] = /"output":(.*)\}$/s.exec(text) ?? [];
  return { status, error, output: outputText ?? JSON.stringify(output) };
}
