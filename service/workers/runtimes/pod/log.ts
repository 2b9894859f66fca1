import type { Clock } from "serverless-compute-api/clock";
import { readLines } from "../../lines";
import { CallError } from "../json-client";
import { type Cluster, retryPause } from "./cluster";
import { containerName } from "./spec";

/**
 * Reads the log of a pod whose program has run, until the program has ended or the signal aborts. Continues after an interruption
 * without repeating lines. `isAdopted` omits lines from before the call.
 */
export async function followLog({
  cluster,
  path,
  clock,
  onLine,
  signal,
  isAdopted,
}: {
  cluster: Cluster;
  path: string;
  clock: Clock;
  onLine(line: string): void;
  signal: AbortSignal;
  isAdopted: boolean;
}): Promise<void> {
  const start = isAdopted ? new Date(clock.now()).toISOString() : "";
  let lastTime = "";
  while (!signal.aborted) {
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
      if (log.readableEnded) return;
    } catch (error) {
      if (error instanceof CallError && error.status === 404) return;
    }
    await clock.sleep(retryPause, signal).catch(() => undefined);
  }
}
