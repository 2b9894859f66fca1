/**
 * A time span in its largest units.
 * @param {number} ms
 */
export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d`;
}

/**
 * The span since a time in whole seconds; undefined below 5 s.
 * @param {number} time
 */
export const age = (time) => {
  const seconds = Math.floor((Date.now() - time) / 1000);
  if (seconds < 5) return undefined;
  return seconds < 60 ? `${seconds} s` : duration(seconds * 1000);
};

/**
 * How long ago a time is.
 * @param {number} time
 */
export const ago = (time) => {
  const span = age(time);
  return span === undefined ? "now" : `${span} ago`;
};

/**
 * Indents JSON text; returns any other text unchanged, and JSON whose numbers parsing would change.
 * @param {string} text
 */
export function pretty(text) {
  try {
    const value = JSON.parse(text);
    // 12345678901234567891 and 1.0 would not survive.
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}

/** The shell variable for the API key, which the page does not have. */
const keyVariable = "SERVERLESS_COMPUTE_API_KEY";

/** @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * A submission as a command line.
 * @param {string} endpointId
 * @param {string} operation run or runsync.
 * @param {string} input JSON text.
 */
export const curlOf = (endpointId, operation, input) =>
  [
    `curl ${quoted(`${location.origin}/v2/${endpointId}/${operation}`)}`,
    `-H "Authorization: Bearer $${keyVariable}"`,
    `-H 'Content-Type: application/json'`,
    `-d ${quoted(`{"input":${input}}`)}`,
  ].join(" \\\n  ");

/** The notice after a submission was copied as a command line. */
export const curlCopied = `Copied. In your shell: export ${keyVariable}=$(npx --no serverless-compute-local key)`;

/** CSS class of each job status. */
const tones = new Map([
  ["COMPLETED", "good"],
  ["FAILED", "bad"],
  ["TIMED_OUT", "bad"],
  ["IN_PROGRESS", "busy"],
  ["IN_QUEUE", "waits"],
]);

/** @param {string} status */
export const toneOf = (status) => tones.get(status) ?? "over";

/** @param {string} status */
export const isFinal = (status) => status !== "IN_QUEUE" && status !== "IN_PROGRESS";

/** @param {string} status */
export const isRetryable = (status) => status === "FAILED" || status === "TIMED_OUT";

/**
 * Root of an endpoint's job API, or of a load balancer's requests.
 * @param {import("./connection.mjs").Endpoint} endpoint
 */
export const urlOf = ({ id, type }) => `${location.origin}/${type === "LB" ? "load-balancers" : "v2"}/${id}`;
