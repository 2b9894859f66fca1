import { h } from "./dom.mjs";
import { urlOf } from "./format.mjs";

/** @typedef {import("./connection.mjs").Endpoint} Endpoint */

const quoteArgument = (/** @type {string} */ text) =>
  /^[\w-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/**
 * A word of a command, without line breaks inside: `--no` would break after its first hyphen.
 * @param {string} text
 * @param {number} index
 */
const wordElement = (text, index) => [index > 0 && " ", h("span", { class: "word" }, text)];

/**
 * A command with a button that copies it.
 * @param {string} text
 */
const command = (text) =>
  h(
    "div",
    { class: "command", "data-key": text },
    h("pre", { tabindex: 0 }, h("code", {}, text.split(" ").flatMap(wordElement))),
    h("button", { type: "button", "data-action": "copy", "data-text": text, "aria-label": `Copy: ${text}` }, "Copy"),
  );

/** The page without an endpoint: commands that create the first one. */
export const noEndpoint = () =>
  h(
    "div",
    { class: "empty" },
    h("p", {}, "There is no endpoint yet. It appears here as soon as it is created."),
    h("h2", {}, "With a Pulumi program"),
    h("p", {}, "In the folder of your program, with the key of this service:"),
    command("export SERVERLESS_COMPUTE_API_KEY=$(npx --no serverless-compute-local key)"),
    command("pulumi up"),
    h("h2", {}, "With a seed file"),
    h(
      "p",
      {},
      "In an empty folder: write endpoints.yaml and a handler, then stop this service and start it with them:",
    ),
    command("npx --no serverless-compute-local init"),
    command("npx --no serverless-compute-local start --seed endpoints.yaml"),
    h(
      "p",
      { class: "quiet" },
      "In a clone of the repository, ",
      h("code", {}, "npm run quickstart"),
      " does all of this.",
    ),
  );

/**
 * The command that sends a request to a load balancer.
 * @param {Endpoint} endpoint
 */
export const sendRequest = (endpoint) =>
  h(
    "section",
    { class: "panel", "data-key": "requests" },
    h("h2", {}, "Send a request"),
    h("p", {}, "A load balancer has no jobs. It forwards requests to its workers:"),
    command(`curl -H "Authorization: Bearer $(npx --no serverless-compute-local key)" ${urlOf(endpoint)}/`),
  );

/**
 * Content of an empty list: the command that submits the first job.
 * @param {Endpoint} endpoint
 */
export const noJob = ({ name }) =>
  h(
    "div",
    { class: "next", "data-key": "empty" },
    h("p", {}, "No jobs yet: run one with the form above, or in the folder in which the service was started:"),
    command(`npx --no serverless-compute-local run ${quoteArgument(name)} '{"prompt":"Hello"}' --sync`),
    h("p", { class: "quiet" }, "Results are kept for 30 minutes."),
  );

/**
 * Content of a list without matching jobs.
 * @param {string | undefined} job Id in the address.
 */
export const noMatch = (job) =>
  h(
    "div",
    { class: "next", "data-key": "empty", role: "status" },
    h(
      "p",
      {},
      job === undefined
        ? "No job matches the filter."
        : `No job has the id ${job}. Results are kept for 30 minutes; those of /runsync for 1 minute.`,
    ),
    h("button", { type: "button", "data-action": "unfilter" }, "Show all jobs"),
  );
