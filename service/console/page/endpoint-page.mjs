import { endpointAddress, filterQuery, goTo } from "./address.mjs";
import { charts } from "./charts.mjs";
import { call } from "./connection.mjs";
import { h, placeholderOf } from "./dom.mjs";
import { endpointHeader } from "./endpoint-header.mjs";
import { createFaultPanel } from "./fault-panel.mjs";
import { curlCopied, curlOf, isRetryable } from "./format.mjs";
import { createJobDetails } from "./job-details.mjs";
import { createJobFilter } from "./job-filter.mjs";
import { createJobForm } from "./job-form.mjs";
import { jobList } from "./job-list.mjs";
import { createJobPages } from "./job-pages.mjs";
import { noJob, noMatch, sendRequest } from "./next-steps.mjs";
import { createRetryDialog } from "./retry-dialog.mjs";
import { workerList } from "./worker-list.mjs";
import { createWorkerLog } from "./worker-log.mjs";

/** @typedef {import("./connection.mjs").Endpoint} Endpoint */

/**
 * The page of one endpoint: its state, a form for jobs, its jobs and the output of its workers.
 * @param {string} endpointId
 * @param {string} idOrName The endpoint's id or name, as in the address.
 * @param {{ notify(text: string): void, requestRender(): void }} host
 */
export function createEndpointPage(endpointId, idOrName, { notify, requestRender }) {
  const form = createJobForm(endpointId, notify);
  const log = createWorkerLog();
  const details = createJobDetails(endpointId, requestRender);
  const pages = createJobPages(endpointId, requestRender);
  const filter = createJobFilter(idOrName);
  const faults = createFaultPanel(endpointId);
  const retryDialog = createRetryDialog(endpointId);
  /** @type {import("./connection.mjs").Metrics[] | undefined} */
  let metrics;
  /** Index of the charts' range. */
  let range = 0;
  /** Id of the job in the address. @type {string | undefined} */
  let linkedJob;

  /** Actions of the buttons, with the `data-subject` of the button. @type {Record<string, (subject: string) => unknown>} */
  const actions = {
    range(index) {
      range = Number(index);
      requestRender();
    },
    cancel: (id) => call("POST", `v2/${endpointId}/cancel/${id}`),
    async retry(id) {
      await call("POST", `v2/${endpointId}/retry/${id}`);
      form.followJob(id);
    },
    removeFault: faults.remove,
    retryAll: () => retryDialog.open(pages.filter),
    toggle: (id) => (details.of(id) ? details.close(id) : details.open(id)),
    log(id) {
      if (log.find(id)) return;
      details.open(id);
      notify("The log shown here does not contain this job. Its details contain its error.");
    },
    async copyId(id) {
      await navigator.clipboard.writeText(id);
      notify("Copied the id of the job.");
    },
    async curl(id) {
      await navigator.clipboard.writeText(curlOf(endpointId, "run", details.of(id)?.input ?? "{}"));
      notify(curlCopied);
    },
    reuse: (id) => form.fill(details.of(id)?.input ?? "{}"),
    newest: pages.toNewest,
    older: pages.toOlder,
    unfilter: () => goTo(endpointAddress(idOrName)),
  };

  return {
    endpointId,
    /** @type {Record<string, (data: any) => void>} */
    listeners: {
      metrics: (data) => {
        metrics = data;
        requestRender();
      },
      jobs: (data) => {
        details.update(data.rows);
        pages.update(data);
      },
      faults: faults.update,
      log: log.add,
    },
    /** Called when the connection is open again; the service then sends all events again. */
    onReconnect() {
      log.restart();
      details.reload();
    },

    /**
     * Applies the filter of an address, and opens its job.
     * @param {import("./address.mjs").EndpointRoute} route
     */
    applyRoute(route) {
      pages.setFilter(route.filter);
      filter.show(route.filter);
      if (route.job !== undefined && route.job !== linkedJob) details.open(route.job);
      linkedJob = route.job;
    },

    /**
     * Runs the action of a button; an error becomes a notice.
     * @param {string} action
     * @param {string} subject Id of a job, name of a fault, or index of a range.
     */
    async runAction(action, subject) {
      try {
        await actions[action]?.(subject);
      } catch (error) {
        notify(error instanceof Error ? error.message : String(error));
      }
    },

    /** @param {Endpoint} endpoint */
    render(endpoint) {
      const hasJobs = endpoint.type === "QB";
      return h(
        "div",
        { "data-key": endpointId, class: "endpoint" },
        ...endpointHeader(endpoint),
        hasJobs && h("div", { "data-key": "charts" }, charts(metrics, range, endpoint.jobs.inQueue)),
        h(
          "div",
          { class: "columns", "data-key": "columns" },
          hasJobs
            ? h(
                "section",
                { class: "panel", "data-key": "form" },
                h("h2", {}, "Run a job"),
                placeholderOf(form.element),
              )
            : sendRequest(endpoint),
          workerList(endpoint, log.element),
        ),
        placeholderOf(faults.element),
        hasJobs &&
          jobList({
            endpoint: idOrName,
            page: pages.shown,
            pageNumber: pages.pageNumber,
            detailOf: details.of,
            filter: filter.element,
            canRetry: isRetryable(pages.filter.state ?? "FAILED"),
            empty: filterQuery(pages.filter) === "" ? noJob(endpoint) : noMatch(linkedJob),
          }),
        placeholderOf(retryDialog.element),
      );
    },
  };
}
