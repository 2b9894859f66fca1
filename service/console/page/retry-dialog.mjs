import { filterQuery } from "./address.mjs";
import { call } from "./connection.mjs";
import { h, morphChildren } from "./dom.mjs";

/** @typedef {import("./address.mjs").JobFilter} JobFilter */

/** Jobs per request: the steps of the progress. */
const step = 100;

const jobs = (/** @type {number} */ count) => `${count} ${count === 1 ? "job" : "jobs"}`;

/**
 * The dialog that retries all failed jobs of an endpoint that match a filter. It keeps its own elements.
 * @param {string} endpointId
 */
export function createRetryDialog(endpointId) {
  const dialog = /** @type {HTMLDialogElement} */ (h("dialog", { class: "dialog", "aria-labelledby": "retry-title" }));
  /** True while requests are sent. */
  let runs = false;
  let stopped = false;
  dialog.addEventListener("cancel", (event) => {
    stopped = true;
    if (runs) event.preventDefault();
  });

  /**
   * @param {string} title
   * @param {(import("./dom.mjs").Child)[]} content
   * @param {Record<string, () => void>} buttons By their labels, the main one last.
   */
  function draw(title, content, buttons) {
    const labels = Object.keys(buttons);
    const actions = h(
      "div",
      { class: "actions end", "data-key": labels.join() },
      labels.map((label, at) =>
        h("button", { type: "button", class: at > 0 ? "primary" : null, "data-key": label }, label),
      ),
    );
    const before = dialog.querySelector(".actions")?.getAttribute("data-key");
    morphChildren(dialog, [h("h2", { id: "retry-title" }, title), h("div", {}, content), actions]);
    const shown = [...dialog.querySelectorAll("button")];
    for (const button of shown) button.onclick = buttons[button.textContent ?? ""] ?? null;
    if (before !== labels.join()) shown.at(-1)?.focus();
  }
  const close = () => dialog.close();

  /** @param {string[]} ids */
  async function run(ids) {
    /** @type {{ id: string, reason: string }[]} */
    const failed = [];
    let sent = 0;
    let fault = "";
    runs = true;
    stopped = false;
    try {
      // Without its page, the dialog is gone.
      while (sent < ids.length && !stopped && dialog.isConnected) {
        const text = `${sent} of ${ids.length}`;
        draw(
          `Retrying ${jobs(ids.length)}`,
          [
            h("progress", { max: ids.length, value: sent, "aria-label": "Retried jobs" }),
            h("p", { class: "quiet", role: "status" }, text),
          ],
          { Stop: () => (stopped = true) },
        );
        const part = ids.slice(sent, sent + step);
        const body = JSON.stringify({ ids: part });
        failed.push(...JSON.parse(await call("POST", `api/endpoints/${endpointId}/retries`, body)).failed);
        sent += part.length;
      }
    } catch (error) {
      fault = error instanceof Error ? error.message : String(error);
    }
    runs = false;
    const rest = ids.length - sent;
    draw(
      `${sent - failed.length} of ${jobs(ids.length)} queued again`,
      [
        sent > failed.length && h("p", { role: "status" }, "They run as soon as a worker is free."),
        rest > 0 && h("p", { role: "status" }, `Stopped${fault && `: ${fault}`}. ${jobs(rest)} not retried.`),
        failed.length > 0 && h("p", { role: "status" }, `${jobs(failed.length)} could not be retried:`),
        failed.length > 0 &&
          h(
            "ul",
            { class: "failures", tabindex: 0, "aria-label": "Jobs that could not be retried" },
            failed.map(({ id, reason }) => h("li", {}, h("code", {}, id), ` ${reason}`)),
          ),
      ],
      { Close: close },
    );
  }

  return {
    element: h("div", { "data-own": true, "data-key": "retry-dialog" }, dialog),
    /**
     * Opens the confirmation with the number of jobs.
     * @param {JobFilter} filter
     */
    async open(filter) {
      const query = filterQuery(filter);
      const { ids } = JSON.parse(await call("GET", `api/endpoints/${endpointId}/jobs/retryable?${query}`));
      dialog.showModal();
      const which = query === "" ? "of this endpoint" : "that match the filter";
      if (ids.length === 0) {
        draw("No job to retry", [h("p", {}, `There are no failed or timed-out jobs ${which}.`)], { Close: close });
        return;
      }
      draw(
        `Retry ${jobs(ids.length)}?`,
        [h("p", {}, `All failed and timed-out jobs ${which}, on every page, are queued again in their order.`)],
        { Cancel: close, [`Retry ${jobs(ids.length)}`]: () => void run(ids) },
      );
    },
  };
}
