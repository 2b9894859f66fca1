import { h, placeholderOf } from "./dom.mjs";
import { workerDots } from "./endpoint-list.mjs";
import { age } from "./format.mjs";

/**
 * The panel with an endpoint's workers and their log.
 * @param {import("./connection.mjs").Endpoint} endpoint
 * @param {Element} log
 */
export const workerList = (endpoint, log) =>
  h(
    "section",
    { class: "panel log-panel" },
    h("h2", {}, "Workers ", workerDots(endpoint)),
    h(
      "ul",
      { class: "workers" },
      endpoint.running.map(({ id, status, startedAt, location }) =>
        h(
          "li",
          { "data-key": id },
          h("i", { class: `dot ${status}` }),
          h("code", {}, id),
          h("span", { class: "quiet" }, `${status}, up for ${age(startedAt) ?? "a moment"}`),
          location &&
            h(
              "span",
              { class: "quiet" },
              `pod ${location.pod}, ${location.phase}, node ${location.node ?? "none yet"}`,
            ),
        ),
      ),
    ),
    h("h3", {}, "Log"),
    placeholderOf(log),
  );
