import { systemClock } from "serverless-compute-api/clock";
import { createLogTail } from "../workers/log-tail";
import { workerLogPath } from "../workers/logs";
import { isLocalId } from "../workers/registry";
import { findEndpoint } from "./data-folder";
import type { Output } from "./output";

/** Flags of `logs`. */
export interface LogsFlags {
  data: string;
  /** Number of past lines to print. */
  lines: number;
  /** True to keep printing new lines. */
  follow: boolean;
  /** True to print each line as JSON. */
  json: boolean;
}

/** Interval at which new lines are read, ms. */
const pollInterval = 200;

/** A line of the log as JSON; lines of the service itself have no worker id. */
function lineAsJson(text: string): string {
  const [time, ...words] = text.split(" ");
  const worker = isLocalId(words[0] ?? "") ? words.shift() : undefined;
  return JSON.stringify({ time, worker, line: words.join(" ") });
}

/** Prints the output of an endpoint's workers, oldest line first; with `follow`, until the signal aborts. Requires no running service. */
export async function printLogs(
  endpoint: string,
  { data, lines, follow, json }: LogsFlags,
  output: Output,
  signal?: AbortSignal,
): Promise<void> {
  const { id, name } = findEndpoint(endpoint, data);
  const tail = createLogTail(workerLogPath(data, id));
  const print = (linesToPrint: string[]): void => {
    if (linesToPrint.length > 0) output.out((json ? linesToPrint.map(lineAsJson) : linesToPrint).join("\n"));
  };
  try {
    const pastLines = await tail.readLast(lines);
    if (!follow) {
      const partialLine = tail.unfinishedLine();
      const allLines = partialLine === "" || lines === 0 ? pastLines : [...pastLines, partialLine].slice(-lines);
      if (allLines.length === 0 && lines > 0)
        output.err(`endpoint "${name}" (${id}) has no log yet; none of its workers has started`);
      return print(allLines);
    }
    print(pastLines);
    while (!signal?.aborted) {
      for await (const newLines of tail.newLines()) print(newLines);
      await systemClock.sleep(pollInterval, signal).catch(() => undefined);
    }
  } finally {
    await tail.close();
  }
}
