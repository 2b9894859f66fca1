import { type Clock, systemClock } from "serverless-compute-api/clock";
import { createLogTail } from "../workers/log-tail";
import { workerLogFolder, workerLogPath } from "../workers/logs";
import { chooseEndpoint } from "./data-folder";
import type { Output } from "./output";

/** What `logs` is told. */
export interface LogsFlags {
  data: string;
  /** Lines of the past. */
  lines: number;
  /** Goes on with what workers write from now on. */
  follow: boolean;
}

/** How often a followed log is looked at, ms. */
const lookInterval = 200;

/** Prints what an endpoint's workers wrote, oldest line first; followed, until the signal aborts. Needs no running service. */
export async function printLogs(
  endpoint: string,
  { data, lines, follow }: LogsFlags,
  output: Output,
  signal?: AbortSignal,
  clock: Clock = systemClock,
): Promise<void> {
  const { id, name } = chooseEndpoint(endpoint, data);
  const tail = createLogTail(workerLogPath(workerLogFolder(data), id));
  const print = (some: string[]): void => {
    if (some.length > 0) output.out(some.join("\n"));
  };
  try {
    const past = await tail.last(lines);
    if (!follow) {
      const unfinished = tail.rest();
      const all = unfinished === "" ? past : [...past, unfinished].slice(-lines);
      if (all.length === 0 && lines > 0)
        output.err(`endpoint "${name}" (${id}) has no log yet: no worker of it started`);
      return print(all);
    }
    print(past);
    while (!signal?.aborted) {
      print(await tail.more());
      await clock.sleep(lookInterval, signal).catch(() => undefined);
    }
  } finally {
    await tail.close();
  }
}
