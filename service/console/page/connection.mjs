/**
 * @typedef {{ pod: string, phase: string, node?: string }} Location
 * @typedef {{ id: string, status: string, startedAt: number, location?: Location }} Worker
 * @typedef {{ inQueue: number, inProgress: number, completed: number, failed: number, retried: number }} JobCounts
 * @typedef {object} Endpoint
 * @property {string} id
 * @property {string} name
 * @property {string} type
 * @property {{ id: string, name?: string }} [template] Absent if the container is the endpoint's own.
 * @property {string} [imageName]
 * @property {string} scalerType
 * @property {number} scalerValue
 * @property {number} idleTimeout Seconds.
 * @property {string[]} volumes Names.
 * @property {number} workersMin
 * @property {number} workersMax
 * @property {number} version
 * @property {JobCounts} jobs
 * @property {Record<string, number>} workers
 * @property {string} [message] The reason why jobs wait or no worker starts.
 * @property {Worker[]} running
 *
 * @typedef {object} JobRow A job without input and output; times in ms.
 * @property {string} id
 * @property {string} status
 * @property {string} operation
 * @property {number} createdAt
 * @property {number} queuedAt
 * @property {number} [startedAt]
 * @property {number} [finishedAt]
 * @property {number} retries
 * @property {string} [workerId]
 * @property {string} [error]
 * @typedef {{ rows: JobRow[], before: number | null }} JobPage
 *
 * @typedef {object} Metrics
 * @property {number} until
 * @property {number} slotLength
 * @property {number[]} queue
 * @property {number[]} completed
 * @property {number[]} failed
 * @property {(number | null)[]} p50
 * @property {(number | null)[]} p95
 *
 * @typedef {object} Resources
 * @property {{ id: string, name: string, imageName: string, containerDiskInGb: number, variables: string[] }[]} templates
 * @property {{ id: string, name: string, size: number, dataCenterId: string }[]} volumes
 * @property {{ id: string, name: string }[]} secrets
 * @property {{ id: string, name: string }[]} registryAuths
 *
 * @typedef {"open" | "lost" | "signedOut"} ConnectionState
 */

/** A call that the service rejected. */
export class CallError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/**
 * Calls the service in this session; resolves with the text of the response.
 * @param {string} method
 * @param {string} path Below /console/.
 * @param {string} [body] JSON text.
 * @param {AbortSignal} [signal]
 * @param {Record<string, string>} [headers] Additional headers.
 */
export async function call(method, path, body, signal, headers) {
  const response = await fetch(`/console/${path}`, {
    method,
    headers: {
      "x-serverless-compute-console": "1",
      ...headers,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body }),
    ...(signal ? { signal } : {}),
  });
  const text = await response.text();
  if (response.ok) return text;
  throw new CallError(response.status, readMessage(text) ?? `the service returned ${response.status}`);
}

/**
 * Opens a session with the API key, which the browser does not keep.
 * @param {string} key
 */
export const signInWith = (key) => call("POST", "session", undefined, undefined, { authorization: `Bearer ${key}` });

/** @param {string} text */
function readMessage(text) {
  try {
    const { message, error } = JSON.parse(text);
    return typeof message === "string" ? message : typeof error === "string" ? error : undefined;
  } catch {
    return undefined;
  }
}

/** Delay before a rejected connection is retried, ms. */
const retryDelay = 1000;

/**
 * Subscribes to the service's events; reconnects after the connection is lost.
 * @param {string} query The endpoint whose jobs, log and metrics are also sent, and the filter of its jobs; may be empty.
 * @param {Record<string, (data: any) => void>} listeners Listeners by event name.
 * @param {(state: ConnectionState) => void} onStateChange
 * @returns {() => void} Ends the subscription.
 */
export function listen(query, listeners, onStateChange) {
  /** @type {EventSource | undefined} */
  let source;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let isEnded = false;

  function connect() {
    source?.close();
    source = new EventSource(`/console/api/events?${query}`);
    source.onopen = () => onStateChange("open");
    source.onerror = () => {
      // The browser retries a lost connection, but not a rejected one.
      if (source?.readyState === EventSource.CLOSED) void checkSession();
      else onStateChange("lost");
    };
    for (const [name, listener] of Object.entries(listeners))
      source.addEventListener(name, (event) => listener(JSON.parse(event.data)));
  }
  /** Shows the sign-in without a session; otherwise retries the connection. */
  async function checkSession() {
    try {
      await call("GET", "api/session");
    } catch (error) {
      if (isEnded) return;
      if (error instanceof CallError && error.status === 401) return onStateChange("signedOut");
    }
    if (isEnded) return;
    onStateChange("lost");
    timer = setTimeout(connect, retryDelay);
  }

  connect();
  return () => {
    isEnded = true;
    clearTimeout(timer);
    source?.close();
  };
}
