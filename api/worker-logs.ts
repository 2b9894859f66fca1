import { z } from "zod";
import { pathSegment } from "./address";
import { type Clock, systemClock } from "./clock";
import { isApiError } from "./errors";
import { parseJson } from "./response";
import { limits } from "./shapes";
import type { Transport } from "./transport";

/** A line of a worker's output. */
export interface WorkerLogLine {
  /** Time in ISO 8601, with up to nanoseconds. */
  ts: string;
  line: string;
}

/** The data of an event (contract: LogLine). */
const logLine = z.looseObject({ ts: z.iso.datetime({ offset: true }), line: z.string() });

/** A server-sent event. */
interface ServerEvent {
  id: string | undefined;
  data: string;
}

/** Returns a function that reads server-sent events from the parts of a response. */
export function createEventReader(onEvent: (event: ServerEvent) => void): (part: string) => void {
  /** The parts of an unfinished line, which are searched for its end once each. */
  let rest: string[] = [];
  let id: string | undefined;
  let data: string[] = [];
  const readLine = (text: string): void => {
    if (text === "") {
      if (data.length > 0) onEvent({ id, data: data.join("\n") });
      [id, data] = [undefined, []];
    }
    const [, field, value = ""] = /^(\w+)(?:: ?(.*))?$/s.exec(text) ?? [];
    if (field === "id") id = value;
    if (field === "data") data.push(value);
  };
  return (part) => {
    const isUnfinished = !/[\r\n]/.test(part) && rest.at(-1)?.endsWith("\r") !== true;
    rest.push(part);
    if (isUnfinished) return;
    // A carriage return at the end may be half of a line break.
    const lines = rest.join("").split(/\r\n|\n|\r(?=[\s\S])/);
    rest = [lines.pop() ?? ""];
    lines.forEach(readLine);
  };
}

/** Wait before a stream is opened again, ms. */
const reconnectWait = 1_000;

/** Maximum number of successive failures: time for the service to restart. */
const maxFailures = 20;

/** Options of {@link followWorkerLog}. */
export interface WorkerLogOptions {
  /** Maximum number of past lines, up to 5000, which is the default. */
  tail?: number | undefined;
  /** Position after which to begin, instead of `tail`. */
  after?: string | undefined;
  signal: AbortSignal;
  /** Called with the head of each response. */
  onOpen: () => void;
  onLine: (line: WorkerLogLine) => void;
  /** Default: the machine's clock. */
  clock?: Clock | undefined;
}

/**
 * Reads the last lines of a worker's output and then new lines, until the service ends the stream or the signal aborts. Continues after the
 * last line if the connection is lost or the service restarts. Resolves with the position after the last line. Rejects with an ApiError, but
 * not for an unknown worker, which has ended. Requires REST v2 at `baseUrl`. Each log occupies one of the clients' `maxInFlight` calls.
 */
export async function followWorkerLog(
  { transport, baseUrl }: { transport: Transport; baseUrl: string },
  [endpointId, workerId]: readonly [endpointId: string, workerId: string],
  { tail = limits.logTail, after, signal, onOpen, onLine, clock = systemClock }: WorkerLogOptions,
): Promise<string | undefined> {
  const root = { method: "GET", url: `${baseUrl}/serverless` };
  const worker = `${pathSegment(endpointId, "endpoint", root)}/workers/${pathSegment(workerId, "worker", root)}`;
  const url = `${root.url}/${worker}/logs?tail=${Math.min(tail, limits.logTail)}`;
  let lastId = after;
  let failures = 0;
  for (;;) {
    /** Position of an event that the service may send once more. Other lines may have the same time as the line before. */
    let repeatedId = lastId;
    const readPart = createEventReader(({ id, data }) => {
      const { data: line } = logLine.safeParse(parseJson(data));
      if (!line) return;
      lastId = id ?? line.ts;
      const isRepeated = lastId === repeatedId;
      repeatedId = undefined;
      if (!isRepeated) onLine(line);
    });
    let callerFault: { error: unknown } | undefined;
    const onText = (part: string): void => {
      try {
        if (part === "") {
          failures = 0;
          onOpen();
        }
        readPart(part);
      } catch (error) {
        callerFault ??= { error };
        throw error;
      }
    };
    const headers = { accept: "text/event-stream", ...(lastId === undefined ? {} : { "last-event-id": lastId }) };
    try {
      // Not retried by the transport, because the position changes with each line.
      await transport.send({ method: "GET", url, headers, onText, idempotent: false }, { signal });
      return lastId;
    } catch (error) {
      if (callerFault) throw callerFault.error;
      if (signal.aborted || (isApiError(error) && error.category === "missing")) return lastId;
      failures += 1;
      if (!isApiError(error) || !error.retryable || failures > maxFailures) throw error;
      await clock.sleep(reconnectWait, signal).catch(() => undefined);
    }
  }
}
