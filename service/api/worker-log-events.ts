import { setTimeout as pause } from "node:timers/promises";
import { createLogTail } from "../workers/log-tail";

/** A line of a worker's output as REST v2 sends it. */
interface LogLine {
  source: "container";
  line: string;
  /** When it was written, in ISO 8601 with nanoseconds: no two lines of a worker have the same. */
  ts: string;
}

/** How often new lines are looked for, ms. */
const lookInterval = 200;
/** Lines of the endpoint's log that are looked through at the start. */
const pastLines = 10_000;

/** Reads a worker's lines out of its endpoint's log, `<time> <worker id> <line>`, and numbers those of one millisecond. */
function createLineReader(workerId: string): (lines: string[]) => LogLine[] {
  let last = "";
  let count = 0;
  return (lines) =>
    lines.flatMap((whole) => {
      const [time = "", id, ...words] = whole.split(" ");
      if (id !== workerId) return [];
      count = time === last ? count + 1 : 0;
      last = time;
      const ts = time.replace(/Z$/, `${String(count).padStart(6, "0")}Z`);
      return [{ source: "container" as const, line: words.join(" "), ts }];
    });
}

const eventOf = (line: LogLine): string => `id: ${line.ts}\ndata: ${JSON.stringify(line)}\n\n`;

/**
 * The events of a worker's log (Server-Sent Events): its last lines, or all those after a time, then what it writes, until it is
 * gone. Undefined when it is not running and the log has none of its lines.
 */
export async function openWorkerLogEvents({
  file,
  workerId,
  source = "container",
  tail: count,
  after,
  running,
}: {
  /** The endpoint's log. */
  file: string;
  workerId: string;
  /** All lines are the container's; the hosted service has those of its own machines, too. */
  source?: "container" | "system" | undefined;
  /** Past lines at most. */
  tail: number;
  /** Only lines after this time, all of them, instead of the last ones. */
  after: string | undefined;
  /** Returns true if the worker still writes. */
  running(): boolean;
}): Promise<AsyncGenerator<string> | undefined> {
  const tail = createLogTail(file);
  const read = createLineReader(workerId);
  const past = read(await tail.last(pastLines));
  if (past.length === 0 && !running()) {
    await tail.close();
    return undefined;
  }
  const wanted = (lines: LogLine[]): LogLine[] =>
    lines.filter((line) => source === line.source && (after === undefined || line.ts > after));
  const found = wanted(past);
  const shown = after === undefined ? found.slice(Math.max(0, found.length - count)) : found;
  return events();

  async function* events(): AsyncGenerator<string> {
    try {
      // The head of the response goes out with the first part.
      yield ":\n\n";
      yield* shown.map(eventOf);
      for (let last = false; !last; ) {
        // What it wrote before its end is read after it.
        last = !running();
        if (!last) await pause(lookInterval);
        yield* wanted(read(await tail.more())).map(eventOf);
      }
    } finally {
      await tail.close();
    }
  }
}
