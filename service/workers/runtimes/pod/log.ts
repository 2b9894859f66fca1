import type { Clock } from "serverless-compute-api/clock";
import { messageOf } from "../../../errors";
import { readLines } from "../../lines";
import { CallError } from "../json-client";
import { type Cluster, retryPause } from "./cluster";
import { containerName } from "./spec";

/** A time of any offset as a text that sorts by time, in ns; "" for another text. */
function instantOf(time: string): string {
  const ms = Date.parse(time);
  const [, fraction = ""] = /\.(\d+)/.exec(time) ?? [];
  return Number.isNaN(ms) ? "" : `${new Date(ms).toISOString().slice(0, 20)}${fraction.padEnd(9, "0")}`;
}

/**
 * Reads the log of a pod whose program has run, from a time on (ms), until the program has ended or the signal aborts. Continues after
 * an interruption without repeating lines.
 */
export async function followLog({
  cluster,
  path,
  clock,
  onLine,
  onProblem,
  hasEnded,
  signal,
  since,
}: {
  cluster: Cluster;
  path: string;
  clock: Clock;
  onLine(line: string): void;
  /** Receives the reason why the log cannot be read, once. */
  onProblem(reason: string): void;
  /** Returns true once the program has ended. */
  hasEnded(): boolean;
  signal: AbortSignal;
  since: number;
}): Promise<void> {
  let lastTime = new Date(since).toISOString();
  let lastProblem = "";
  let isAtEnd = false;
  // The end of the node's kubelet also ends the log.
  const isComplete = (): boolean => signal.aborted || (isAtEnd && hasEnded());
  while (!isComplete()) {
    try {
      const query = { container: containerName, follow: "true", timestamps: "true", sinceTime: lastTime };
      const log = await cluster.open("GET", `${path}/log`, { query, signal });
      await readLines(log, (text) => {
        const [time = "", ...words] = text.split(" ");
        // `sinceTime` counts in seconds.
        if (instantOf(time) <= instantOf(lastTime)) return;
        lastTime = time;
        onLine(words.join(" "));
      });
      isAtEnd = log.readableEnded;
    } catch (error) {
      if (signal.aborted) return;
      // Its pod is gone, or the node's kubelet has just started.
      isAtEnd = error instanceof CallError && error.status === 404;
      const problem = messageOf(error);
      if (problem !== lastProblem && !isAtEnd) onProblem(problem);
      lastProblem = problem;
    }
    if (!isComplete()) await clock.sleep(retryPause, signal).catch(() => undefined);
  }
}
