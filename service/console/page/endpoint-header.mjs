import { h } from "./dom.mjs";
import { count } from "./endpoint-list.mjs";
import { urlOf } from "./format.mjs";

/** @typedef {import("./connection.mjs").Endpoint} Endpoint */

/**
 * Name, settings and numbers of an endpoint, and the reason if no worker starts or jobs wait.
 * @param {Endpoint} endpoint
 */
export function endpointHeader(endpoint) {
  const { id, name, type, imageName, jobs, message, version } = endpoint;
  return [
    h(
      "header",
      { class: "title", "data-key": "title" },
      h("p", { class: "quiet" }, h("a", { href: "#/" }, "Endpoints"), " /"),
      h("h1", {}, name),
      h("p", { class: "quiet" }, h("code", {}, id), ` · ${imageName ?? "template deleted"} · version ${version}`),
    ),
    settingsList(endpoint),
    h("p", { class: "warning", "data-key": "message", hidden: message === undefined }, message),
    type === "QB" &&
      h(
        "dl",
        { class: "counts tiles", "data-key": "counts" },
        count("in queue", jobs.inQueue, "waits"),
        count("running", jobs.inProgress, "busy"),
        count("completed", jobs.completed),
        count("failed", jobs.failed, "bad"),
        count("requeued", jobs.retried),
      ),
  ];
}

/**
 * List of an endpoint's URL and settings.
 * @param {Endpoint} endpoint
 */
function settingsList(endpoint) {
  const { template, volumes, scalerType, scalerValue, idleTimeout, workersMin, workersMax } = endpoint;
  const unit = scalerType === "QUEUE_DELAY" ? `${scalerValue} s` : `${scalerValue}`;
  const rows = {
    URL: urlOf(endpoint),
    Scaling: `${workersMin} to ${workersMax} workers, ${scalerType} ${unit}, idle timeout ${idleTimeout} s`,
    Container: template ? `template ${template.name ?? "deleted"} (${template.id})` : "the endpoint's own",
    Volume: volumes.join(", ") || "none",
  };
  return h(
    "dl",
    { class: "facts", "data-key": "facts" },
    Object.entries(rows).map(([name, value]) => h("div", { "data-key": name }, h("dt", {}, name), h("dd", {}, value))),
  );
}
