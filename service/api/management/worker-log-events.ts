import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { commentText, eventText } from "../../server-sent-events";
import { createLogTail } from "../../workers/log-tail";

/** A line of a worker's output as returned by REST v2. */
interface LogLine {
  source: "container";
  line: string;
  /** Time of the line, in ISO 8601 with nanoseconds, unique among the worker's lines. */
  ts: string;
}

/** Interval at which new lines are read, ms. */
const pollInterval = 200;
/** Number of past log lines searched at the start. */
const maxPastLines = 10_000;

/** A time of RFC 3339 in the form of `ts`, in which times sort as text. */
function lineTime(time: string): string {
  const fraction = /\.(\d+)/.exec(time)?.[1] ?? "";
  return new Date(time).toISOString().replace(/\d{3}Z$/, `${fraction.slice(0, 9).padEnd(9, "0")}Z`);
}

/** Reads a worker's lines from its endpoint's log, `<time> <worker id> <line>`, and numbers lines of the same millisecond. */
function createLineReader(workerId: string): (lines: string[]) => LogLine[] {
  let previousTime = "";
  let sameTimeCount = 0;
  return (lines) =>
    lines.flatMap((logLine) => {
      const [time = "", id, ...words] = logLine.split(" ");
      if (id !== workerId) return [];
      sameTimeCount = time === previousTime ? sameTimeCount + 1 : 0;
      previousTime = time;
      const ts = time.replace(/Z$/, `${String(sameTimeCount).padStart(6, "0")}Z`);
      return [{ source: "container" as const, line: words.join(" "), ts }];
    });
}

const eventOf = (line: LogLine): string => eventText({ id: line.ts, data: JSON.stringify(line) });

/**
 * Server-sent events of a worker's log: its last lines, or all lines after a time, then new lines until the worker ends. Undefined if the
 * worker is not running and the log has none of its lines.
 */
export async function openWorkerLogEvents({
  file,
  workerId,
  source,
  tail: count,
  after,
  isRunning,
}: {
  /** Path of the endpoint's log. */
  file: string;
  workerId: string;
  /** Source of the lines. All local lines come from the container; the hosted service also has system lines. */
  source: "container" | "system";
  /** Maximum number of past lines. */
  tail: number;
  /** Sends all lines after this time (RFC 3339) instead of the last `tail` lines. */
  after: string | undefined;
  isRunning(): boolean;
}): Promise<Readable | undefined> {
  const tail = createLogTail(file);
  const readLines = createLineReader(workerId);
  const pastLines = readLines(await tail.readLast(maxPastLines));
  if (pastLines.length === 0 && !isRunning()) {
    await tail.close();
    return undefined;
  }
  const start = after === undefined ? "" : lineTime(after);
  const selectLines = (lines: LogLine[]): LogLine[] =>
    lines.filter((line) => source === line.source && line.ts > start);
  const selected = selectLines(pastLines);
  const firstLines = after === undefined ? selected.slice(Math.max(0, selected.length - count)) : selected;
  // A generator that has not started has no `finally`, so the stream closes the log.
  return Readable.from(events()).once("close", () => void tail.close());

  async function* events(): AsyncGenerator<string> {
    // The head of the response is sent with the first part.
    yield commentText;
    // A slow reader keeps the stream open, so the lines are released.
    for (const line of firstLines.splice(0)) yield eventOf(line);
    for (let isLast = false; !isLast; ) {
      // Lines written before the worker's end are read once more after it.
      isLast = !isRunning();
      if (!isLast) await pause(pollInterval);
      for await (const lines of tail.newLines()) for (const line of selectLines(readLines(lines))) yield eventOf(line);
    }
  }
}
