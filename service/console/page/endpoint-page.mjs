import { charts } from "./charts.mjs";
import { CallError, call } from "./connection.mjs";
import { h, own } from "./dom.mjs";
import { count, workerDots } from "./endpoint-list.mjs";
import { age, curlOf } from "./format.mjs";
import { createJobForm, resultOf } from "./job-form.mjs";
import { jobList } from "./job-list.mjs";
import { createWorkerLog } from "./worker-log.mjs";

/** @typedef {import("./connection.mjs").Endpoint} Endpoint */
/** @typedef {import("./connection.mjs").JobPage} JobPage */

/**
 * The page of one endpoint: its state, a form for jobs, its jobs and the output of its workers.
 * @param {string} endpointId
 * @param {{ notify(text: string): void, changed(): void }} host `changed` requests another `view`.
 */
export function createEndpointPage(endpointId, { notify, changed }) {
  const form = createJobForm(endpointId, notify);
  const log = createWorkerLog();
  /** @type {import("./connection.mjs").Metrics[] | undefined} */
  let metrics;
  /** Index of the charts' range. */
  let range = 0;
  /** The newest page, which is live, and the older one that is shown in its place. @type {JobPage | undefined} */
  let newest;
  /** @type {JobPage | undefined} */
  let older;
  let pageNumber = 1;
  /** @type {Map<string, import("./job-list.mjs").JobDetail>} */
  const details = new Map();

  /** Reads what a job was given and made. @param {string} id */
  async function readDetail(id) {
    const detail = details.get(id);
    if (!detail) return;
    try {
      const [record, input] = await Promise.all([
        call("GET", `v2/${endpointId}/status/${id}`),
        call("GET", `api/endpoints/${endpointId}/jobs/${id}/input`),
      ]);
      const { output, error } = resultOf(record);
      details.set(id, {
        input,
        ...(output === undefined ? {} : { output }),
        ...(error === undefined ? {} : { error }),
      });
    } catch (error) {
      const gone = error instanceof CallError && error.status === 404;
      details.set(id, { fault: gone ? "The job is gone: its time to be kept is over." : String(error) });
    }
    changed();
  }

  /** @param {number} before */
  async function showOlder(before) {
    older = JSON.parse(await call("GET", `api/endpoints/${endpointId}/jobs?before=${before}`));
    pageNumber++;
    changed();
  }

  /** Actions of the buttons, by the `data-job` or `data-range` of the button. @type {Record<string, (subject: string) => unknown>} */
  const actions = {
    range(index) {
      range = Number(index);
      changed();
    },
    cancel: (id) => call("POST", `v2/${endpointId}/cancel/${id}`),
    async retry(id) {
      await call("POST", `v2/${endpointId}/retry/${id}`);
      form.follow(id);
    },
    toggle(id) {
      if (!details.delete(id)) {
        details.set(id, {});
        void readDetail(id);
      }
      changed();
    },
    async curl(id) {
      await navigator.clipboard.writeText(curlOf(endpointId, "run", details.get(id)?.input ?? "{}"));
      notify(
        "Copied. Set SERVERLESS_COMPUTE_API_KEY in your shell: export SERVERLESS_COMPUTE_API_KEY=$(serverless-compute-local key)",
      );
    },
    reuse: (id) => form.fill(details.get(id)?.input ?? "{}"),
    newest() {
      older = undefined;
      pageNumber = 1;
      changed();
    },
    older: () => showOlder((older ?? newest)?.before ?? 1),
  };

  return {
    /** @type {Record<string, (data: any) => void>} */
    listeners: {
      metrics: (data) => {
        metrics = data;
        changed();
      },
      jobs: (data) => {
        const before = new Map((newest?.rows ?? []).map((row) => [row.id, row.status]));
        newest = data;
        form.update(data.rows);
        // What is open and went on has another output.
        for (const { id, status } of data.rows) if (details.has(id) && before.get(id) !== status) void readDetail(id);
        changed();
      },
      log: log.add,
    },
    /** The connection is there again, and everything is sent anew. */
    begin: () => log.clear(),

    /**
     * Does what a button is for; what fails is said.
     * @param {string} action
     * @param {string} subject Id of a job, or index of a range.
     */
    async act(action, subject) {
      try {
        await actions[action]?.(subject);
      } catch (error) {
        notify(error instanceof Error ? error.message : String(error));
      }
    },

    /** @param {Endpoint[] | undefined} endpoints */
    view(endpoints) {
      const endpoint = endpoints?.find(({ id }) => id === endpointId);
      if (!endpoint)
        return h(
          "section",
          { "data-key": "gone" },
          h("h1", {}, endpoints ? "This endpoint is gone" : "Loading…"),
          h("p", {}, h("a", { href: "#/" }, "All endpoints")),
        );
      return endpointView(endpoint);
    },
  };

  /** @param {Endpoint} endpoint */
  function endpointView(endpoint) {
    const { name, imageName, jobs, message, running, version } = endpoint;
    return h(
      "div",
      { "data-key": endpointId, class: "endpoint" },
      h(
        "header",
        { class: "title", "data-key": "title" },
        h("p", { class: "quiet" }, h("a", { href: "#/" }, "Endpoints"), " /"),
        h("h1", {}, name),
        h(
          "p",
          { class: "quiet" },
          h("code", {}, endpointId),
          ` · ${imageName ?? "its template is gone"} · version ${version}`,
        ),
      ),
      facts(endpoint),
      h("p", { class: "warning", "data-key": "message", hidden: message === undefined }, message),
      h(
        "dl",
        { class: "counts tiles", "data-key": "counts" },
        count("in queue", jobs.inQueue, "waits"),
        count("running", jobs.inProgress, "busy"),
        count("completed", jobs.completed),
        count("failed", jobs.failed, "bad"),
        count("queued again", jobs.retried),
      ),
      h("div", { "data-key": "charts" }, charts(metrics, range, jobs.inQueue)),
      h(
        "div",
        { class: "columns", "data-key": "columns" },
        h("section", { class: "panel" }, h("h2", {}, "Run a job"), own(form.element)),
        h(
          "section",
          { class: "panel" },
          h("h2", {}, "Workers ", workerDots(endpoint)),
          h(
            "ul",
            { class: "workers" },
            running.map(({ id, status, startedAt }) =>
              h(
                "li",
                { "data-key": id },
                h("i", { class: `dot ${status}` }),
                h("code", {}, id),
                h("span", { class: "quiet" }, `${status}, up for ${age(startedAt).replace("now", "a moment")}`),
              ),
            ),
          ),
          h("h3", {}, "Log"),
          own(log.element),
        ),
      ),
      jobList(older ?? newest, pageNumber, details),
    );
  }
}

/**
 * List of an endpoint's URL and settings.
 * @param {Endpoint} endpoint
 */
function facts({
  id,
  templateId,
  templateName,
  volumes,
  scalerType,
  scalerValue,
  idleTimeout,
  workersMin,
  workersMax,
}) {
  const unit = scalerType === "QUEUE_DELAY" ? `${scalerValue} s` : `${scalerValue}`;
  const rows = {
    URL: `${location.origin}/v2/${id}`,
    Scaling: `${workersMin} to ${workersMax} workers, ${scalerType} ${unit}, idle timeout ${idleTimeout} s`,
    Template: templateName === undefined ? templateId : `${templateName} (${templateId})`,
    Volume: volumes.join(", ") || "none",
  };
  return h(
    "dl",
    { class: "facts", "data-key": "facts" },
    Object.entries(rows).map(([name, value]) => h("div", { "data-key": name }, h("dt", {}, name), h("dd", {}, value))),
  );
}
