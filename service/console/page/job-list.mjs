import { h, timeOf } from "./dom.mjs";
import { age, duration, isOver, pretty, toneOf } from "./format.mjs";

/** @typedef {import("./connection.mjs").JobRow} JobRow */
/** @typedef {{ input?: string, output?: string, error?: string, fault?: string }} JobDetail */

/** Characters of an input or output that are shown; all of it is copied. */
const longestShown = 200_000;

/** @param {JobRow} job */
const ran = ({ startedAt, finishedAt, executionTime }) =>
  startedAt === undefined ? "–" : duration(finishedAt === undefined ? Date.now() - startedAt : executionTime);

/** @param {JobRow} job */
const waited = ({ queuedAt, startedAt, finishedAt, delayTime }) =>
  duration(startedAt === undefined && finishedAt === undefined ? Date.now() - queuedAt : delayTime);

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
 * @param {JobRow} job
 * @param {JobDetail} detail
 */
function detailRow(job, { input, output, error, fault }) {
  const facts = [
    ` by /${job.operation}`,
    job.workerId && `worker ${job.workerId}`,
    job.retries > 0 && `queued again ${job.retries}×`,
  ];
  const action = { type: "button", "data-job": job.id };
  return h(
    "tr",
    { "data-key": `${job.id} detail`, class: "detail" },
    h(
      "td",
      { colspan: 5 },
      h(
        "p",
        { class: "quiet" },
        h("code", {}, job.id),
        " · submitted ",
        timeOf(job.createdAt),
        `${facts.filter(Boolean).join(" · ")}`,
      ),
      part("Input", input === undefined ? (fault ?? "Loading…") : pretty(input)),
      part("Error", error, "bad"),
      part("Output", output === undefined ? undefined : pretty(output)),
      input !== undefined &&
        h(
          "div",
          { class: "actions" },
          h("button", { ...action, "data-action": "curl" }, "Copy as curl"),
          h("button", { ...action, "data-action": "reuse" }, "Use this input"),
        ),
    ),
  );
}

/**
 * @param {JobRow} job
 * @param {JobDetail | undefined} detail
 */
function jobRows(job, detail) {
  const { id, status, createdAt } = job;
  const action = { type: "button", "data-job": id };
  const row = h(
    "tr",
    { "data-key": id },
    h("td", {}, h("span", { class: `state ${toneOf(status)}` }, status)),
    h(
      "td",
      {},
      h(
        "button",
        { ...action, class: "id", "data-action": "toggle", "aria-expanded": String(detail !== undefined), title: id },
        id.replace(/^(sync-)?(.{13}).*/, "$1$2…"),
      ),
    ),
    h("td", { class: "time" }, timeOf(createdAt, age(createdAt))),
    h("td", { class: "time" }, `${waited(job)} + ${ran(job)}`),
    h(
      "td",
      { class: "row-actions" },
      !isOver(status) && h("button", { ...action, "data-action": "cancel", "data-key": "cancel" }, "Cancel"),
      (status === "FAILED" || status === "TIMED_OUT") &&
        h("button", { ...action, "data-action": "retry", "data-key": "retry" }, "Retry"),
    ),
  );
  return detail ? [row, detailRow(job, detail)] : [row];
}

/**
 * An endpoint's jobs, newest first: the newest page, which is live, or an older one.
 * @param {{ rows: JobRow[], before: number | null } | undefined} page
 * @param {number} pageNumber From 1.
 * @param {Map<string, JobDetail>} details Of the jobs that are open.
 */
export function jobList(page, pageNumber, details) {
  const rows = page?.rows ?? [];
  return h(
    "section",
    { class: "panel wide", "data-key": "jobs" },
    h("h2", {}, "Jobs"),
    rows.length === 0
      ? h(
          "p",
          { class: "quiet" },
          page ? "No jobs yet: run one with the form above. Results are kept for 30 minutes." : "Loading…",
        )
      : h(
          "table",
          { class: "jobs" },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              ["State", "Job", "Submitted", "Waited + ran", "Actions"].map((text, at) =>
                h("th", { scope: "col", class: at === 2 || at === 3 ? "time" : null }, text),
              ),
            ),
          ),
          h(
            "tbody",
            {},
            rows.flatMap((job) => jobRows(job, details.get(job.id))),
          ),
        ),
    (pageNumber > 1 || (page?.before ?? null) !== null) &&
      h(
        "nav",
        { class: "pages", "aria-label": "Pages of jobs", "data-key": "pages" },
        h("button", { type: "button", "data-action": "newest", disabled: pageNumber === 1 }, "Newest"),
        h("span", { class: "quiet" }, pageNumber === 1 ? "Page 1, live" : `Page ${pageNumber}`),
        h("button", { type: "button", "data-action": "older", disabled: (page?.before ?? null) === null }, "Older"),
      ),
  );
}
