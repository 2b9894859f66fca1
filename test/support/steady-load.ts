import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { at } from "./raw-http";

/** Counts of jobs by their final state and version, such as `COMPLETED 2`, by the status of a failed request, or as `lost`. */
type JobCounts = Record<string, number>;

/** Matches counts of jobs that completed, each in one of the versions. */
export const onlyCompletedBy = (...versions: string[]): JobCounts =>
  Object.fromEntries(versions.map((version) => [`COMPLETED ${version}`, expect.any(Number)]));

/** Jobs submitted at a steady rate. */
interface SteadyLoad {
  /** Waits until that version has run a job. */
  completedBy(version: string): Promise<void>;
  /** Stops submitting, waits for all submitted jobs and returns their counts. */
  stop(): Promise<JobCounts>;
}

/** A call of the job API of one endpoint. */
type JobCall = (method: string, path: string, json?: unknown) => Promise<{ status: number; json: unknown }>;

const finalStates = ["COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT"];

/** The entry of `JobCounts` for the last response about a job. */
function outcomeOf({ status, json }: Awaited<ReturnType<JobCall>>): string {
  if (status !== 200) return status === 404 ? "lost" : String(status);
  const isWrong = at(json, "output", "works") === false;
  const state = String(at(json, "status"));
  return state === "COMPLETED" ? `${state} ${at(json, "output", "version")}${isWrong ? " wrong" : ""}` : state;
}

/** Submits 20 jobs a second, each of which is followed to its end, at most 2 minutes. */
export function startLoad(call: JobCall): SteadyLoad {
  const counts: JobCounts = {};
  const jobs: Promise<void>[] = [];
  let isStopped = false;

  async function follow(n: number): Promise<string> {
    const end = Date.now() + 120_000;
    let response = await call("POST", "/runsync?wait=90000", { input: { n } });
    const id = String(at(response.json, "id"));
    while (response.status === 200 && !finalStates.includes(String(at(response.json, "status"))) && Date.now() < end) {
      await delay(50);
      response = await call("GET", `/status/${id}`);
    }
    return outcomeOf(response);
  }
  async function job(n: number): Promise<void> {
    const outcome = await follow(n).catch(String);
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }

  const submission = (async () => {
    for (let n = 0; !isStopped; n++) {
      jobs.push(job(n));
      await delay(50);
    }
  })();
  return {
    completedBy: (version) => expect.poll(() => counts).toHaveProperty(`COMPLETED ${version}`),
    async stop() {
      isStopped = true;
      await submission;
      await Promise.all(jobs);
      return counts;
    },
  };
}
