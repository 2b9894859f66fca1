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
  /** Statuses of the previous rows. @type {Map<string, string>} */
  let previousStatuses = new Map();

  /** @param {string} id */
  async function load(id) {
    try {
      const [record, input] = await Promise.all([
        call("GET", `v2/${endpointId}/status/${id}`),
        call("GET", `api/endpoints/${endpointId}/jobs/${id}/input`),
      ]);
      const { output, error } = resultOf(record);
      if (!details.has(id)) return;
      details.set(id, {
        input,
        ...(output === undefined ? {} : { output }),
        ...(error === undefined ? {} : { error }),
      });
    } catch (error) {
      const isMissing = error instanceof CallError && error.status === 404;
      if (details.has(id))
        details.set(id, { fault: isMissing ? "The job is gone: its retention is over." : String(error) });
    }
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
      requestRender();
    },
    /**
     * Reloads expanded jobs whose status has changed.
     * @param {JobRow[]} rows
     */
    update(rows) {
      for (const { id, status } of rows) if (details.has(id) && previousStatuses.get(id) !== status) void load(id);
      previousStatuses = new Map(rows.map(({ id, status }) => [id, status]));
    },
  };
}

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
    job.retries > 0 && `queued again ${job.retries}×`,
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
