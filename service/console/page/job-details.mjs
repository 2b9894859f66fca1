import { jobAddress } from "./address.mjs";
import { CallError, call } from "./connection.mjs";
import { h, timeOf } from "./dom.mjs";
import { pretty } from "./format.mjs";
import { resultOf } from "./job-form.mjs";

/** @typedef {import("./connection.mjs").JobRow} JobRow */
/** @typedef {{ input?: string, output?: string, error?: string, fault?: string }} JobDetail */

/** Characters of an input or output that are shown; all of it is copied. */
const longestShown = 200_000;

/**
 * Inputs, outputs and errors of the jobs that are open.
 * @param {string} endpointId
 * @param {() => void} changed
 */
export function createJobDetails(endpointId, changed) {
  /** @type {Map<string, JobDetail>} */
  const details = new Map();
  /** States of the rows that were shown last. @type {Map<string, string>} */
  let before = new Map();

  /** @param {string} id */
  async function read(id) {
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
      const gone = error instanceof CallError && error.status === 404;
      if (details.has(id)) details.set(id, { fault: gone ? "The job is gone: its retention is over." : String(error) });
    }
    changed();
  }

  return {
    /** @param {string} id */
    of: (id) => details.get(id),
    /** @param {string} id */
    open(id) {
      if (!details.has(id)) details.set(id, {});
      void read(id);
      changed();
    },
    /** @param {string} id */
    close(id) {
      details.delete(id);
      changed();
    },
    /**
     * Reads open jobs again whose state has changed.
     * @param {JobRow[]} rows
     */
    update(rows) {
      for (const { id, status } of rows) if (details.has(id) && before.get(id) !== status) void read(id);
      before = new Map(rows.map(({ id, status }) => [id, status]));
    },
  };
}

/**
 * @param {string} title
 * @param {string | undefined} text
 * @param {string} [tone]
 */
const part = (title, text, tone = "") =>
  text !== undefined &&
  h(
    "div",
    { "data-key": title },
    h("h3", {}, title),
    h(
      "pre",
      { class: tone, tabindex: 0, "aria-label": title },
      text.slice(0, longestShown),
      text.length > longestShown && "…",
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
  const facts = [
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
        `${facts.filter(Boolean).join(" · ")}`,
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
      part("Input", input === undefined ? (fault ?? "Loading…") : pretty(input)),
      part("Error", error, "bad"),
      part("Output", output === undefined ? undefined : pretty(output)),
    ),
  );
}
