/**
 * @typedef {{ id: string, status: string, startedAt: number }} Worker
 * @typedef {{ inQueue: number, inProgress: number, completed: number, failed: number, retried: number }} JobCounts
 * @typedef {object} Endpoint
 * @property {string} id
 * @property {string} name
 * @property {string} type
 * @property {string} templateId
 * @property {string} [templateName]
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
 * @property {string} [message] Why no worker starts.
 * @property {Worker[]} running
 *
 * @typedef {object} JobRow A job without input and output; times in ms.
 * @property {number} seq
 * @property {string} id
 * @property {string} status
 * @property {string} operation
 * @property {number} createdAt
 * @property {number} queuedAt
 * @property {number} [startedAt]
 * @property {number} [finishedAt]
 * @property {number} delayTime
 * @property {number} executionTime
 * @property {number} retries
 * @property {string} [workerId]
 * @property {string} [error]
 * @property {boolean} hasOutput
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
 * @property {{ id: string, name: string, imageName: string, containerDiskInGb: number, boundEndpointId?: string, variables: string[] }[]} templates
 * @property {{ id: string, name: string, size: number, dataCenterId: string, type: string }[]} volumes
 * @property {{ id: string, name: string }[]} secrets
 * @property {{ id: string, name: string }[]} registryAuths
 *
 * @typedef {"open" | "lost" | "signedOut"} ConnectionState
 */

/** A call that the service refused. */
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
 */
export async function call(method, path, body, signal) {
  const response = await fetch(`/console/${path}`, {
    method,
    headers: {
      "x-serverless-compute-console": "1",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body }),
    ...(signal ? { signal } : {}),
  });
  const text = await response.text();
  if (response.ok) return text;
  throw new CallError(response.status, messageIn(text) ?? `the service returned ${response.status}`);
}

/** @param {string} text */
function messageIn(text) {
  try {
    const { message, error } = JSON.parse(text);
    return typeof message === "string" ? message : typeof error === "string" ? error : undefined;
  } catch {
    return undefined;
  }
}

/** How long to wait before another try of a connection that the service refused, ms. */
const pause = 1000;

/**
 * Listens to the service's events, and connects again when the connection is lost.
 * @param {string} query The endpoint whose jobs, log and metrics are sent too, and the filter of its jobs; may be empty.
 * @param {Record<string, (data: any) => void>} listeners By the names of events.
 * @param {(state: ConnectionState) => void} changed
 * @returns {() => void} Ends it.
 */
export function listen(query, listeners, changed) {
  /** @type {EventSource | undefined} */
  let source;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let ended = false;

  function connect() {
    source?.close();
    source = new EventSource(`/console/api/events?${query}`);
    source.onopen = () => changed("open");
    source.onerror = () => {
      changed("lost");
      // A lost connection is tried again by the browser; one that was refused is not.
      if (source?.readyState === EventSource.CLOSED) timer = setTimeout(again, pause);
    };
    for (const [name, listener] of Object.entries(listeners))
      source.addEventListener(name, (event) => listener(JSON.parse(event.data)));
  }
  async function again() {
    if (ended) return;
    try {
      await call("GET", "api/session");
    } catch (error) {
      if (error instanceof CallError && error.status === 401) return changed("signedOut");
    }
    if (!ended) connect();
  }

  connect();
  return () => {
    ended = true;
    clearTimeout(timer);
    source?.close();
  };
}
