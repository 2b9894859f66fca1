import type { Clock } from "serverless-compute-api/clock";
import { messageOf } from "../../../errors";
import { readLines } from "../../lines";
import { CallError } from "../json-client";
import { type Cluster, retryPause } from "./cluster";
import { containerName } from "./spec";

/** Pause before a log is opened again that has ended before its program, ms. */
const reopenPause = 5000;

/**
 * Reads the log of a pod whose program has run, until the program has ended or the signal aborts. Continues after an interruption
 * without repeating lines. `isAdopted` omits lines from before the call.
 */
export async function followLog({
  cluster,
  path,
  clock,
  onLine,
  onProblem,
  programEnded,
  signal,
  isAdopted,
}: {
  cluster: Cluster;
  path: string;
  clock: Clock;
  onLine(line: string): void;
  /** Receives the reason why the log cannot be read, once. */
  onProblem(reason: string): void;
  /** Aborts when the program has ended, at the latest with `signal`. */
  programEnded: AbortSignal;
  signal: AbortSignal;
  isAdopted: boolean;
}): Promise<void> {
  const start = isAdopted ? new Date(clock.now()).toISOString() : "";
  let lastTime = "";
  let lastProblem = "";
  let isAtEnd = false;
  // The end of the node's kubelet also ends the log.
  const isComplete = (): boolean => signal.aborted || (isAtEnd && programEnded.aborted);
  while (!isComplete()) {
    isAtEnd = false;
    try {
      const sinceTime = lastTime || start;
      const since: Record<string, string> = sinceTime === "" ? {} : { sinceTime };
      const query = { container: containerName, follow: "true", timestamps: "true", ...since };
      const log = await cluster.open("GET", `${path}/log`, { query });
      const stop = (): void => void log.destroy();
      signal.addEventListener("abort", () => clock.sleep(retryPause).then(stop), { once: true });
      await readLines(log, (text) => {
        const [time = "", ...words] = text.split(" ");
        // `sinceTime` counts in seconds. Times of one node have the same length.
        if (time <= lastTime) return;
        lastTime = time;
        onLine(words.join(" "));
      });
      isAtEnd = log.readableEnded;
    } catch (error) {
      if (error instanceof CallError && error.status === 404) return;
      const problem = messageOf(error);
      if (problem !== lastProblem) onProblem(problem);
      lastProblem = problem;
    }
    const wake = programEnded.aborted ? signal : programEnded;
    if (!isComplete()) await clock.sleep(isAtEnd ? reopenPause : retryPause, wake).catch(() => undefined);
  }
}
