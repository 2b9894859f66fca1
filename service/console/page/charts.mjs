import { h } from "./dom.mjs";
import { duration } from "./format.mjs";

/** @typedef {import("./connection.mjs").Metrics} Metrics */

/** Height of a chart in the units of its drawing; a slot is one wide. */
const height = 40;

/**
 * @param {number} value
 * @param {number} most
 */
const y = (value, most) => (height - (value / most) * (height - 2)).toFixed(2);

/**
 * The path of values, with a gap where one is null.
 * @param {(number | null)[]} values
 * @param {number} most
 */
function linePath(values, most) {
  let path = "";
  let pen = "M";
  values.forEach((value, at) => {
    if (value === null) {
      pen = "M";
      return;
    }
    path += `${pen}${at} ${y(value, most)}h1`;
    pen = "L";
  });
  return path;
}

/**
 * @param {number[]} values
 * @param {number} most
 */
const areaPath = (values, most) =>
  `M0 ${height}${values.map((value, at) => `L${at} ${y(value, most)}h1`).join("")}V${height}Z`;

/**
 * One chart: what it is about, its value now, and its highest one.
 * @param {string} title
 * @param {string} now
 * @param {string} top
 * @param {Element[]} shapes
 * @param {number} width
 * @param {Element} [legend]
 */
const chart = (title, now, top, shapes, width, legend) =>
  h(
    "figure",
    { class: "chart", "data-key": title },
    h("figcaption", {}, h("span", {}, title), " ", h("strong", {}, now)),
    h(
      "svg",
      {
        viewBox: `0 0 ${width} ${height}`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": `${title} over the last 15 minutes: now ${now}, at most ${top}`,
      },
      h("line", { class: "axis", x1: 0, x2: width, y1: height, y2: height }),
      ...shapes,
    ),
    h("p", { class: "scale" }, h("span", {}, "−15 min"), legend ?? h("span", {}, `max ${top}`), h("span", {}, "now")),
  );

/** @param {(number | null)[]} values */
const lastOf = (values) => values.findLast((value) => value !== null) ?? null;

/** @param {(number | null)[]} values */
const mostOf = (values) => Math.max(1, ...values.map((value) => value ?? 0));

/**
 * Queue, throughput and times of an endpoint's jobs over the last 15 minutes.
 * @param {Metrics | undefined} metrics
 * @param {number} inQueue Jobs that wait now.
 */
export function charts(metrics, inQueue) {
  if (!metrics) return h("div", { class: "charts" });
  const { queue, completed, failed, p50, p95, slotLength } = metrics;
  const slots = queue.length;
  const perMinute = 60_000 / slotLength;
  const ended = completed.map((count, at) => (count + (failed[at] ?? 0)) * perMinute);
  const broken = failed.map((count) => count * perMinute);
  const most = mostOf(ended);
  // The current slot is incomplete, so the rate comes from the previous one.
  const rate = ended.at(-2) ?? 0;
  const slowest = mostOf(p95);
  const [middle, late] = [lastOf(p50), lastOf(p95)];
  return h(
    "div",
    { class: "charts" },
    chart(
      "In queue",
      String(inQueue),
      String(Math.max(...queue)),
      [h("path", { class: "area", d: areaPath(queue, mostOf(queue)) })],
      slots,
    ),
    chart(
      "Jobs per minute",
      String(Math.round(rate)),
      String(Math.round(Math.max(...ended))),
      [
        h("path", { class: "area good", d: areaPath(ended, most) }),
        h("path", { class: "area bad", d: areaPath(broken, most) }),
      ],
      slots,
    ),
    chart(
      "Time to result",
      middle === null || late === null ? "–" : `${duration(middle)} / ${duration(late)}`,
      duration(slowest),
      [
        h("path", { class: "line late", d: linePath(p95, slowest) }),
        h("path", { class: "line middle", d: linePath(p50, slowest) }),
      ],
      slots,
      h("span", {}, h("span", { class: "key middle" }, "p50"), " ", h("span", { class: "key late" }, "p95")),
    ),
  );
}
