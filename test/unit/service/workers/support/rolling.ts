import { writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Clock } from "serverless-compute-api/clock";
import { expect, onTestFinished } from "vitest";
import { z } from "zod";
import type { JobTimings } from "../../../../../service/jobs/timings";
import { at } from "../../../../support/raw-http";
import type { JobCall } from "../../../../support/steady-load";
import { useJobRig } from "../../jobs/support/job-rig";
import { scratchFile, shortTimings } from "./programs";

const workerList = z.array(
  z.looseObject({ id: z.string(), status: z.string(), isStale: z.boolean(), version: z.number() }),
);
type ShownWorker = z.output<typeof workerList>[number];

/** An endpoint whose workers run version "1" of a handler, and whose template changes while it works. */
export interface RollingEndpoint {
  id: string;
  templateId: string;
  call: JobCall;
  /** The endpoint's record by REST v1. */
  v1(query: string): Promise<unknown>;
  /** A REST v2 request about the endpoint. */
  v2(path: string): ReturnType<JobCall>;
  /** Changes fields of the endpoint. */
  change(fields: object): Promise<void>;
  /** Saves the template with these variables. */
  deploy(env: Record<string, string>): Promise<void>;
  workers(): Promise<ShownWorker[]>;
  /** The versions that workers run, each once. */
  versions(): Promise<number[]>;
  /** How many of the workers are in this phase. */
  phases(status: string): Promise<number>;
  /** Starts a job that runs until `finish` is called; resolves when a worker has it. */
  longJob(): Promise<LongJob>;
  /** Runs jobs until one was run by that version. */
  answersFrom(version: string): Promise<void>;
  /** Waits until all workers run the endpoint's version `version`, and none is on its way. */
  rolledOut(version: number): Promise<void>;
  /** Waits for so many more workers to start than there are. */
  moreStarts(count: number): Promise<void>;
  /** The most workers that were there at a time. */
  most(): number;
}

interface LongJob {
  finish(): void;
  /** Waits for its end; returns its record. */
  record(): Promise<Record<string, unknown>>;
}

/** A service with one endpoint, on the machine's clock unless `clock` is given; it counts workers continuously. */
export async function useRollingEndpoint(
  fields: object,
  timings: Partial<JobTimings> = {},
  env: Record<string, string> = { VERSION: "1" },
  clock?: Clock,
): Promise<RollingEndpoint> {
  const file = fileURLToPath(new URL("../../../../support/handlers/versioned.mjs", import.meta.url));
  const rig = await useJobRig({
    images: { versioned: file },
    timings: { ...shortTimings, rolloutPause: 300, ...timings },
    ...(clock ? { clock } : {}),
  });
  const jobs = await rig.endpoint("versioned", { idleTimeout: 30, ...fields }, { env });
  const templateId = (await rig.rest("GET", `/endpoints/${jobs.id}`)).text("templateId");
  const managed = rig.jobs(`serverless/${jobs.id}`);
  const v2 = (path: string) => managed.call("GET", path);
  const changed = async (path: string, body: object): Promise<void> => {
    expect((await rig.rest("PATCH", path, body)).status).toBe(200);
  };

  const seen = new Set<string>();
  let most = 0;
  async function workers(): Promise<ShownWorker[]> {
    const shown = workerList.parse(at((await v2("/workers")).json, "workers"));
    for (const { id } of shown) seen.add(id);
    most = Math.max(most, shown.length);
    return shown;
  }
  let watching = true;
  const watch = (async () => {
    while (watching) {
      await workers();
      await delay(20);
    }
  })();
  onTestFinished(async () => {
    watching = false;
    await watch;
  });

  return {
    id: jobs.id,
    templateId,
    call: jobs.call,
    v1: async (query) => (await rig.rest("GET", `/endpoints/${jobs.id}${query}`)).json,
    v2,
    workers,
    change: (body) => changed(`/endpoints/${jobs.id}`, body),
    deploy: (env) => changed(`/templates/${templateId}`, { env }),
    versions: async () => [...new Set((await workers()).map(({ version }) => version))].sort(),
    phases: async (status) => (await workers()).filter((worker) => worker.status === status).length,
    async longJob() {
      const until = scratchFile();
      const id = await jobs.run({ until });
      await jobs.reaches(id, "IN_PROGRESS");
      return { finish: () => writeFileSync(until, ""), record: () => jobs.reaches(id) };
    },
    answersFrom: (version) =>
      expect
        .poll(async () => at((await jobs.call("POST", "/runsync", { input: {} })).json, "output", "version"))
        .toBe(version),
    async rolledOut(version) {
      const rollout = async () => (await v2("/releases")).json;
      await expect
        .poll(rollout, { timeout: 30_000 })
        .toMatchObject({ endpointVersion: version, rollout: { inProgress: false } });
      await expect
        .poll(async () =>
          (await workers()).every((worker) => worker.version === version && worker.status !== "INITIALIZING"),
        )
        .toBe(true);
    },
    async moreStarts(count) {
      const before = seen.size;
      await expect.poll(() => seen.size).toBeGreaterThanOrEqual(before + count);
    },
    most: () => most,
  };
}
