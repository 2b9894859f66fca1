import { jobAddress } from "./address.mjs";
import { CallError, call } from "./connection.mjs";
import { h, timeOf } from "./dom.mjs";
import { pretty } from "./format.mjs";
import { resultOf } from "./job-form.mjs";

/** @typedef {import("./connection.mjs").JobRow} JobRow */
/** @typedef {{ input?: string, output?: string, error?: string, fault?: string }} JobDetail */

/** Maximum displayed characters of an input or output; copies are complete. */
const maxShownLength = 200_000;

/**
 * Inputs, outputs and errors of expanded jobs.
 * @param {string} endpointId
 * @param {() => void} requestRender
 */
export function createJobDetails(endpointId, requestRender) {
  /** @type {Map<string, JobDetail>} */
  const details = new Map();
  /** The latest request for each expanded job; the results of earlier requests are ignored. @type {Map<string, Promise<JobDetail>>} */
  const requests = new Map();
  /** Versions of the previous rows. @type {Map<string, string>} */
  let previousVersions = new Map();

  /**
   * @param {string} id
   * @returns {Promise<JobDetail>}
   */
  async function request(id) {
    try {
      const [record, input] = await Promise.all([
        call("GET", `v2/${endpointId}/status/${id}`),
        call("GET", `api/endpoints/${endpointId}/jobs/${id}/input`),
      ]);
      const { output, error } = resultOf(record);
      return {
        input,
        ...(output === undefined ? {} : { output }),
        ...(error === undefined ? {} : { error }),
      };
    } catch (error) {
      const isMissing = error instanceof CallError && error.status === 404;
      return { fault: isMissing ? "The job has been deleted: its retention has expired." : String(error) };
    }
  }
  /** @param {string} id */
  async function load(id) {
    const newRequest = request(id);
    requests.set(id, newRequest);
    const detail = await newRequest;
    if (requests.get(id) !== newRequest) return;
    details.set(id, detail);
    requestRender();
  }

  return {
    /** @param {string} id */
    of: (id) => details.get(id),
    /** @param {string} id */
    open(id) {
      if (!details.has(id)) details.set(id, {});
      void load(id);
      requestRender();
    },
    /** @param {string} id */
    close(id) {
      details.delete(id);
      requests.delete(id);
      requestRender();
    },
    /** Reloads all expanded jobs. */
    reload() {
      for (const id of details.keys()) void load(id);
    },
    /**
     * Reloads expanded jobs that have changed.
     * @param {JobRow[]} rows
     */
    update(rows) {
      for (const row of rows)
        if (details.has(row.id) && previousVersions.get(row.id) !== versionOf(row)) void load(row.id);
      previousVersions = new Map(rows.map((row) => [row.id, versionOf(row)]));
    },
  };
}

/**
 * Changes with each state of a job. A retry can end before the next list of jobs, which then has the status of the list before.
 * @param {JobRow} job
 */
const versionOf = ({ status, retries, finishedAt }) => [status, retries, finishedAt].join();

/**
 * @param {string} title
 * @param {string | undefined} text
 * @param {string} [tone]
 */
const section = (title, text, tone = "") =>
  text !== undefined &&
  h(
    "div",
    { "data-key": title },
    h("h3", {}, title),
    h(
      "pre",
      { class: tone, tabindex: 0, "aria-label": title },
      text.slice(0, maxShownLength),
      text.length > maxShownLength && "…",
    ),
  );

/**
 * The row below a job with its details.
 * @param {JobRow} job
 * @param {JobDetail} detail
 * @param {string} endpoint Id or name, as in the address.
 * @param {number} columns
 */
export function detailRow(job, { input, output, error, fault }, endpoint, columns) {
  const properties = [
    ` by /${job.operation}`,
    job.workerId && `worker ${job.workerId}`,
    job.retries > 0 && `requeued ${job.retries}×`,
  ];
  const action = { type: "button", "data-subject": job.id };
  return h(
    "tr",
    { "data-key": `${job.id} detail`, class: "detail" },
    h(
      "td",
      { colspan: columns },
      h(
        "p",
        { class: "quiet" },
        h("code", {}, job.id),
        " · submitted ",
        timeOf(job.createdAt),
        `${properties.filter(Boolean).join(" · ")}`,
      ),
      h(
        "div",
        { class: "actions" },
        h("button", { ...action, "data-action": "copyId" }, "Copy id"),
        input !== undefined && h("button", { ...action, "data-action": "curl", "data-key": "curl" }, "Copy as curl"),
        input !== undefined &&
          h("button", { ...action, "data-action": "reuse", "data-key": "reuse" }, "Use this input"),
        h("a", { href: jobAddress(endpoint, job.id), "data-key": "link" }, "Link to this job"),
      ),
      section("Input", input === undefined ? (fault ?? "Loading…") : pretty(input)),
      section("Error", error, "bad"),
      section("Output", output === undefined ? undefined : pretty(output)),
    ),
  );
}
