import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { at as submittedAt } from "./raw-http";

/** Result of one job of a load. */
interface JobResult {
  /** The job's state, or the status of a failed request; "lost" if the service has no record of it. */
  status: string;
  output: unknown;
  /** Time of its submission, ms since the epoch. */
  submittedAt: number;
  /** Ms from its submission to its end. */
  duration: number;
}

/** Jobs submitted at a steady rate. */
interface SteadyLoad {
  /** Jobs that have ended so far. */
  readonly results: readonly JobResult[];
  /** Waits until that version has run a job. */
  completedBy(version: string): Promise<void>;
  /** Stops submitting, waits for all submitted jobs and returns their results. */
  stop(): Promise<readonly JobResult[]>;
}

/** A call of the job API of one endpoint. */
type JobCall = (method: string, path: string, json?: unknown) => Promise<{ status: number; json: unknown }>;

const finalStates = ["COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT"];

/** Submits 20 jobs a second, each of which is followed to its end, at most 2 minutes. */
export function startLoad(call: JobCall): SteadyLoad {
  const results: JobResult[] = [];
  const jobs: Promise<void>[] = [];
  let isStopped = false;

  async function job(n: number): Promise<void> {
    const startTime = Date.now();
    const recordResult = (status: unknown, output?: unknown): void =>
      void results.push({ status: String(status), output, submittedAt: startTime, duration: Date.now() - startTime });
    try {
      let response = await call("POST", "/runsync?wait=90000", { input: { n } });
      const id = String(submittedAt(response.json, "id"));
      while (response.status === 200 && !finalStates.includes(String(submittedAt(response.json, "status")))) {
        if (Date.now() - startTime > 120_000) break;
        await delay(50);
        response = await call("GET", `/status/${id}`);
      }
      if (response.status === 404) recordResult("lost");
      else
        recordResult(
          response.status === 200 ? submittedAt(response.json, "status") : response.status,
          submittedAt(response.json, "output"),
        );
    } catch (error) {
      recordResult(error);
    }
  }

  const submission = (async () => {
    for (let n = 0; !isStopped; n++) {
      jobs.push(job(n));
      await delay(50);
    }
  })();
  return {
    results,
    completedBy: (version) => expect.poll(() => countResults(results)).toHaveProperty(`COMPLETED ${version}`),
    async stop() {
      isStopped = true;
      await submission;
      await Promise.all(jobs);
      return results;
    },
  };
}

/** Counts of a load's jobs by final state and version, as `COMPLETED 2`. */
export function countResults(results: readonly JobResult[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, output } of results) {
    const isCorrect = submittedAt(output, "works") === false ? " wrong" : "";
    const key = status === "COMPLETED" ? `${status} ${submittedAt(output, "version")}${isCorrect}` : status;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
