import { h, placeholderOf, timeOf } from "./dom.mjs";
import { ago, duration, isFinal, isRetryable, toneOf } from "./format.mjs";
import { detailRow } from "./job-details.mjs";

/** @typedef {import("./connection.mjs").JobRow} JobRow */
/** @typedef {import("./connection.mjs").JobPage} JobPage */
/** @typedef {import("./job-details.mjs").JobDetail} JobDetail */

/** Displayed characters at the end of an id; ids begin with a time, so their beginnings are similar. */
const shownIdLength = 8;

/** @param {string} id */
const shortId = (id) => `${id.startsWith("sync-") ? "sync-" : ""}…${id.slice(-shownIdLength)}`;

/**
 * The time between two events of a job; the clock of the page may be late.
 * @param {number} start
 */
const span = (start, end = Date.now()) => duration(Math.max(0, end - start));

/** @param {JobRow} job */
const executionText = ({ startedAt, finishedAt }) => (startedAt === undefined ? "–" : span(startedAt, finishedAt));

/** @param {JobRow} job */
const queueText = ({ queuedAt, startedAt, finishedAt }) => span(queuedAt, startedAt ?? finishedAt);

/** Columns of the list: heading, class, and explanation. */
const columns = [
  ["State", ""],
  ["Job", ""],
  ["Submitted", "time submitted"],
  ["Queue time", "time", "delayTime: from submission, or the last retry, to the start"],
  ["Execution", "time", "executionTime: from the start to the end"],
  ["Error", "error"],
  ["Actions", "row-actions"],
];

/**
 * @param {JobRow} job
 * @param {JobDetail | undefined} detail
 * @param {string} endpoint Id or name, as in the address.
 */
function jobRows(job, detail, endpoint) {
  const { id, status, createdAt, error, workerId } = job;
  const action = { type: "button", "data-subject": id };
  const hasFailed = isRetryable(status);
  const row = h(
    "tr",
    { "data-key": id },
    h("td", {}, h("span", { class: `state ${toneOf(status)}` }, status)),
    h(
      "td",
      {},
      h(
        "button",
        {
          ...action,
          class: "id",
          "data-action": "toggle",
          title: id,
          "aria-expanded": String(detail !== undefined),
        },
        shortId(id),
      ),
    ),
    h("td", { class: "time submitted" }, timeOf(createdAt, ago(createdAt))),
    h("td", { class: "time", "data-label": "queued" }, queueText(job)),
    h("td", { class: "time", "data-label": "ran" }, executionText(job)),
    h("td", { class: "error" }, error !== undefined && h("span", { title: error }, error.split("\n", 1)[0])),
    h(
      "td",
      { class: "row-actions" },
      !isFinal(status) && h("button", { ...action, "data-action": "cancel", "data-key": "cancel" }, "Cancel"),
      hasFailed &&
        workerId !== undefined &&
        h("button", { ...action, "data-action": "log", "data-key": "log", title: "Error in the log" }, "Log"),
      hasFailed && h("button", { ...action, "data-action": "retry", "data-key": "retry" }, "Retry"),
    ),
  );
  return detail ? [row, detailRow(job, detail, endpoint, columns.length)] : [row];
}

/**
 * An endpoint's jobs, newest first: the newest page, which is live, or an older one.
 * @param {object} list
 * @param {string} list.endpoint Id or name, as in the address.
 * @param {JobPage | undefined} list.page
 * @param {number} list.pageNumber From 1.
 * @param {(id: string) => JobDetail | undefined} list.detailOf The details of an open job.
 * @param {Element} list.filter The form of the filter.
 * @param {boolean} list.canRetry True to offer to retry all failed jobs.
 * @param {Element} list.empty Content in place of an empty list.
 */
export function jobList({ endpoint, page, pageNumber, detailOf, filter, canRetry, empty }) {
  const rows = page?.rows ?? [];
  const isLast = (page?.before ?? null) === null;
  return h(
    "section",
    { class: "panel wide", "data-key": "jobs" },
    h(
      "div",
      { class: "panel-head", "data-key": "head" },
      h("h2", {}, "Jobs"),
      placeholderOf(filter),
      canRetry &&
        h("button", { type: "button", "data-action": "retryAll", "data-key": "retryAll" }, "Retry all failed…"),
    ),
    !page && h("p", { class: "quiet", "data-key": "loading" }, "Loading…"),
    page && rows.length === 0 && empty,
    rows.length > 0 &&
      h(
        "table",
        { class: "jobs", "data-key": "table" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            columns.map(([text, name, title]) => h("th", { scope: "col", class: name, title }, text)),
          ),
        ),
        h(
          "tbody",
          {},
          rows.flatMap((job) => jobRows(job, detailOf(job.id), endpoint)),
        ),
      ),
    (pageNumber > 1 || !isLast) &&
      h(
        "nav",
        { class: "pages", "aria-label": "Pages of jobs", "data-key": "pages" },
        h("button", { type: "button", "data-action": "newest", disabled: pageNumber === 1 }, "Newest"),
        h("span", { class: "quiet" }, pageNumber === 1 ? "Page 1, live" : `Page ${pageNumber}`),
        h("button", { type: "button", "data-action": "older", disabled: isLast }, "Older"),
      ),
  );
}
