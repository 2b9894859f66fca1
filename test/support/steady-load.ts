import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { at } from "./raw-http";

/** Result of one job of a load. */
export interface JobEnd {
  /** The job's state, or the status of a failed request; "lost" if the service has no record of it. */
  status: string;
  output: unknown;
  /** When it was submitted, ms since the epoch. */
  at: number;
  /** Ms from its submission to its end. */
  took: number;
}

/** Jobs submitted at a steady rate. */
export interface SteadyLoad {
  /** Jobs that have ended so far. */
  readonly ends: readonly JobEnd[];
  /** Waits until a job was run by that version. */
  answeredBy(version: string): Promise<void>;
  /** Stops submitting, waits for all submitted jobs and returns their ends. */
  stop(): Promise<readonly JobEnd[]>;
}

/** A call of the job API of one endpoint. */
export type JobCall = (method: string, path: string, json?: unknown) => Promise<{ status: number; json: unknown }>;

const finals = ["COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT"];

/** Submits `perSecond` jobs a second, each of which is followed to its end, at most `patience` ms. */
export function startLoad(call: JobCall, { perSecond = 20, input = {}, patience = 120_000 } = {}): SteadyLoad {
  const ends: JobEnd[] = [];
  const jobs: Promise<void>[] = [];
  let stopped = false;

  async function job(n: number): Promise<void> {
    const since = Date.now();
    const end = (status: unknown, output?: unknown): void =>
      void ends.push({ status: String(status), output, at: since, took: Date.now() - since });
    try {
      let answer = await call("POST", "/runsync?wait=90000", { input: { ...input, n } });
      const id = String(at(answer.json, "id"));
      while (answer.status === 200 && !finals.includes(String(at(answer.json, "status")))) {
        if (Date.now() - since > patience) break;
        await delay(50);
        answer = await call("GET", `/status/${id}`);
      }
      if (answer.status === 404) end("lost");
      else end(answer.status === 200 ? at(answer.json, "status") : answer.status, at(answer.json, "output"));
    } catch (error) {
      end(error);
    }
  }

  const submitting = (async () => {
    for (let n = 0; !stopped; n++) {
      jobs.push(job(n));
      await delay(1000 / perSecond);
    }
  })();
  return {
    ends,
    answeredBy: (version) => expect.poll(() => tally(ends)).toHaveProperty(`COMPLETED ${version}`),
    async stop() {
      stopped = true;
      await submitting;
      await Promise.all(jobs);
      return ends;
    },
  };
}

/** Counts of a load's jobs by final state and version, as `COMPLETED 2`. */
export function tally(ends: readonly JobEnd[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, output } of ends) {
    const works = at(output, "works") === false ? " wrong" : "";
    const key = status === "COMPLETED" ? `${status} ${at(output, "version")}${works}` : status;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
