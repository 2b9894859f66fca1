import { h } from "./dom.mjs";
import { duration } from "./format.mjs";

/** @typedef {import("./connection.mjs").Metrics} Metrics */

/** Height of a chart in the units of its drawing; a slot is one wide. */
const height = 40;

/**
 * @param {number} value
 * @param {number} max
 */
const y = (value, max) => (height - (value / max) * (height - 2)).toFixed(2);

/**
 * The path of values; null values leave gaps.
 * @param {(number | null)[]} values
 * @param {number} max
 */
function linePath(values, max) {
  let path = "";
  let pen = "M";
  values.forEach((value, index) => {
    if (value === null) {
      pen = "M";
      return;
    }
    path += `${pen}${index} ${y(value, max)}h1`;
    pen = "L";
  });
  return path;
}

/**
 * @param {number[]} values
 * @param {number} max
 */
const areaPath = (values, max) =>
  `M0 ${height}${values.map((value, index) => `L${index} ${y(value, max)}h1`).join("")}V${height}Z`;

/**
 * Drawing of one measure.
 * @typedef {object} Chart
 * @property {string} title
 * @property {string} now Present value.
 * @property {string} top Highest value, the upper end of the axis.
 * @property {Element[]} shapes
 * @property {(slot: number) => string} valueAt Text of a slot's value.
 * @property {Element} [legend]
 */

/**
 * One chart with its axes. A slot under the pointer shows its time and value as a tooltip.
 * @param {Chart} chart
 * @param {Metrics} metrics
 */
function chart({ title, now, top, shapes, valueAt, legend }, { until, slotLength, queue: { length } }) {
  const range = rangeName(slotLength * length);
  const timeAt = (/** @type {number} */ slot) =>
    new Date(until - (length - slot) * slotLength).toLocaleTimeString([], {
      hour: "2-digit",
      minute: "2-digit",
      ...(slotLength < 60_000 ? { second: "2-digit" } : {}),
    });
  const slots = Array.from({ length }, (_, slot) =>
    h(
      "rect",
      { class: "slot", x: slot, width: 1, height },
      h("title", {}, `${timeAt(slot)} – ${timeAt(slot + 1)}: ${valueAt(slot)}`),
    ),
  );
  const middleY = height / 2;
  return h(
    "figure",
    { class: "chart", "data-key": title },
    h("figcaption", {}, h("span", {}, title), " ", h("strong", {}, now)),
    h(
      "div",
      { class: "plot" },
      h("p", { class: "values", "aria-hidden": "true" }, h("span", {}, top), h("span", {}, "0")),
      h(
        "svg",
        {
          viewBox: `0 0 ${length} ${height}`,
          preserveAspectRatio: "none",
          role: "img",
          "aria-label": `${title} over the last ${range}: now ${now}, at most ${top}`,
        },
        h("line", { class: "axis", x1: 0, x2: length, y1: height, y2: height }),
        h("line", { class: "grid", x1: 0, x2: length, y1: middleY, y2: middleY }),
        ...shapes,
        ...slots,
      ),
    ),
    h("p", { class: "scale" }, h("span", {}, `−${range}`), legend ?? "", h("span", {}, "now")),
  );
}

/**
 * Length of a range, such as `15 min`.
 * @param {number} ms
 */
const rangeName = (ms) => duration(ms).replace(/ 0 (s|min)$/, "");

/** @param {(number | null)[]} values */
const lastValue = (values) => values.findLast((value) => value !== null) ?? null;

/** @param {(number | null)[]} values */
const maxOf = (values) => Math.max(1, ...values.map((value) => value ?? 0));

/** @param {number | null | undefined} value */
const timeText = (value) => (value === null || value === undefined ? "no result" : duration(value));

/** @param {number} value */
const rateText = (value) => String(value < 10 ? Math.round(value * 10) / 10 : Math.round(value));

/**
 * Queue, throughput and times of an endpoint's jobs over one of the ranges, with buttons for the ranges.
 * @param {Metrics[] | undefined} ranges
 * @param {number} rangeIndex
 * @param {number} inQueue Jobs that wait now.
 */
export function charts(ranges, rangeIndex, inQueue) {
  const metrics = ranges?.[rangeIndex];
  if (!ranges || !metrics) return h("div", { class: "charts" });
  const { queue, completed, failed, p50, p95, slotLength } = metrics;
  const perMinute = 60_000 / slotLength;
  const endedPerMinute = completed.map((count, index) => (count + (failed[index] ?? 0)) * perMinute);
  const failures = failed.map((count) => count * perMinute);
  const maxEnded = maxOf(endedPerMinute);
  // The current slot is incomplete, so the rate comes from the previous one.
  const rate = endedPerMinute.at(-2) ?? 0;
  const slowest = maxOf(p95);
  const [middle, slow] = [lastValue(p50), lastValue(p95)];
  /** @type {Chart[]} */
  const chartList = [
    {
      title: "In queue",
      now: String(inQueue),
      top: String(maxOf(queue)),
      shapes: [h("path", { class: "area", d: areaPath(queue, maxOf(queue)) })],
      valueAt: (slot) => `${queue[slot]} in queue`,
    },
    {
      title: "Jobs per minute",
      now: rateText(rate),
      top: rateText(maxEnded),
      shapes: [
        h("path", { class: "area good", d: areaPath(endedPerMinute, maxEnded) }),
        h("path", { class: "area bad", d: areaPath(failures, maxEnded) }),
      ],
      valueAt: (slot) => `${completed[slot]} completed, ${failed[slot]} failed`,
    },
    {
      title: "Time to result",
      now: middle === null || slow === null ? "–" : `${duration(middle)} / ${duration(slow)}`,
      top: duration(slowest),
      shapes: [
        h("path", { class: "line late", d: linePath(p95, slowest) }),
        h("path", { class: "line middle", d: linePath(p50, slowest) }),
      ],
      valueAt: (slot) =>
        p50[slot] === null ? timeText(null) : `p50 ${timeText(p50[slot])}, p95 ${timeText(p95[slot])}`,
      legend: h("span", {}, h("span", { class: "key middle" }, "p50"), " ", h("span", { class: "key late" }, "p95")),
    },
  ];
  return h(
    "section",
    { "aria-label": "Charts" },
    h(
      "div",
      { class: "ranges", role: "group", "aria-label": "Range of the charts" },
      ranges.map(({ slotLength: length, queue: slots }, index) =>
        h(
          "button",
          {
            type: "button",
            "data-action": "range",
            "data-subject": index,
            "aria-pressed": String(index === rangeIndex),
          },
          rangeName(length * slots.length),
        ),
      ),
    ),
    h("div", { class: "charts" }, ...chartList.map((chartData) => chart(chartData, metrics))),
  );
}
