import { filterQuery } from "./address.mjs";
import { call } from "./connection.mjs";
import { h, morphChildren } from "./dom.mjs";

/** @typedef {import("./address.mjs").JobFilter} JobFilter */

/** Jobs per request; each request advances the progress bar. */
const batchSize = 100;

const jobCountText = (/** @type {number} */ count) => `${count} ${count === 1 ? "job" : "jobs"}`;

/**
 * The dialog that retries all failed jobs of an endpoint that match a filter. It manages its own elements.
 * @param {string} endpointId
 */
export function createRetryDialog(endpointId) {
  const dialog = /** @type {HTMLDialogElement} */ (h("dialog", { class: "dialog", "aria-labelledby": "retry-title" }));
  /** True while requests are sent. */
  let isRunning = false;
  let isStopped = false;
  dialog.addEventListener("cancel", (event) => {
    isStopped = true;
    if (isRunning) event.preventDefault();
  });

  /**
   * @param {string} title
   * @param {(import("./dom.mjs").Child)[]} content
   * @param {Record<string, () => void>} buttons Actions by label, the primary button last.
   */
  function renderDialog(title, content, buttons) {
    const labels = Object.keys(buttons);
    const actions = h(
      "div",
      { class: "actions end", "data-key": labels.join() },
      labels.map((label, index) =>
        h("button", { type: "button", class: index > 0 ? "primary" : null, "data-key": label }, label),
      ),
    );
    const previousLabels = dialog.querySelector(".actions")?.getAttribute("data-key");
    morphChildren(dialog, [h("h2", { id: "retry-title" }, title), h("div", {}, content), actions]);
    const buttonElements = [...dialog.querySelectorAll("button")];
    for (const button of buttonElements) button.onclick = buttons[button.textContent ?? ""] ?? null;
    if (previousLabels !== labels.join()) buttonElements.at(-1)?.focus();
  }
  const close = () => dialog.close();

  /** @param {string[]} ids */
  async function run(ids) {
    /** @type {{ id: string, reason: string }[]} */
    const failed = [];
    let sentCount = 0;
    let fault = "";
    isRunning = true;
    isStopped = false;
    try {
      // Without its page, the dialog is gone.
      while (sentCount < ids.length && !isStopped && dialog.isConnected) {
        const text = `${sentCount} of ${ids.length}`;
        renderDialog(
          `Retrying ${jobCountText(ids.length)}`,
          [
            h("progress", { max: ids.length, value: sentCount, "aria-label": "Retried jobs" }),
            h("p", { class: "quiet", role: "status" }, text),
          ],
          { Stop: () => (isStopped = true) },
        );
        const batch = ids.slice(sentCount, sentCount + batchSize);
        const body = JSON.stringify({ ids: batch });
        failed.push(...JSON.parse(await call("POST", `api/endpoints/${endpointId}/retries`, body)).failed);
        sentCount += batch.length;
      }
    } catch (error) {
      fault = error instanceof Error ? error.message : String(error);
    }
    isRunning = false;
    const remaining = ids.length - sentCount;
    renderDialog(
      `${sentCount - failed.length} of ${jobCountText(ids.length)} requeued`,
      [
        sentCount > failed.length && h("p", { role: "status" }, "They run as soon as a worker is free."),
        remaining > 0 &&
          h("p", { role: "status" }, `Stopped${fault && `: ${fault}`}. ${jobCountText(remaining)} not retried.`),
        failed.length > 0 && h("p", { role: "status" }, `${jobCountText(failed.length)} could not be retried:`),
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
      const scopeText = query === "" ? "of this endpoint" : "that match the filter";
      if (ids.length === 0) {
        renderDialog("No job to retry", [h("p", {}, `There are no failed or timed-out jobs ${scopeText}.`)], {
          Close: close,
        });
        return;
      }
      renderDialog(
        `Retry ${jobCountText(ids.length)}?`,
        [h("p", {}, `All failed and timed-out jobs ${scopeText}, on every page, are requeued in order.`)],
        { Cancel: close, [`Retry ${jobCountText(ids.length)}`]: () => void run(ids) },
      );
    },
  };
}
