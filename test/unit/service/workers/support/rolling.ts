import { writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { useLocalService } from "../../../../support/local-service";
import { at, stringAt } from "../../../../support/raw-http";
import { workerList } from "./load-balancer";
import { scratchFile, shortTimings } from "./programs";

/** A service with an endpoint whose workers run version "1" of a handler; counts the workers continuously. */
export async function useRollingEndpoint(fields: object, env: Record<string, string> = { VERSION: "1" }) {
  const file = fileURLToPath(new URL("../../../../support/handlers/versioned.mjs", import.meta.url));
  const rig = await useLocalService({
    images: { versioned: file },
    timings: { ...shortTimings, rolloutPause: 300 },
  });
  const jobs = await rig.jobsOn("versioned", { idleTimeout: 30, ...fields }, { env });
  const templateId = stringAt(await rig.rest("GET", `/endpoints/${jobs.id}`), "templateId");
  const managed = rig.jobs(`serverless/${jobs.id}`);
  const v2 = (path: string) => managed.call("GET", path);

  const workerIds = new Set<string>();
  let max = 0;
  async function workers(): Promise<ReturnType<typeof workerList.parse>> {
    const shown = workerList.parse(at((await v2("/workers")).json, "workers"));
    for (const { id } of shown) workerIds.add(id);
    max = Math.max(max, shown.length);
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
    call: jobs.call,
    /** The endpoint's record by REST v1. */
    v1: async (query: string) => (await rig.rest("GET", `/endpoints/${jobs.id}${query}`)).json,
    /** Sends a REST v2 request for the endpoint. */
    v2,
    workers,
    /** Saves the template with these variables. */
    async deploy(env: Record<string, string>) {
      expect((await rig.rest("PATCH", `/templates/${templateId}`, { env })).status).toBe(200);
    },
    /** Distinct versions of the workers. */
    versions: async () => [...new Set((await workers()).map(({ version }) => version))].sort(),
    /** Number of workers in a phase. */
    phases: async (status: string) => (await workers()).filter((worker) => worker.status === status).length,
    /** Starts a job that runs until `finish` is called; resolves when a worker has it. */
    async longJob() {
      const endFile = scratchFile();
      const id = await jobs.submit({ until: endFile });
      await jobs.reaches(id, "IN_PROGRESS");
      return { finish: () => writeFileSync(endFile, ""), record: () => jobs.reaches(id) };
    },
    /** Runs jobs until that version has run a job. */
    answersFrom: (version: string) =>
      expect
        .poll(async () => at((await jobs.call("POST", "/runsync", { input: {} })).json, "output", "version"))
        .toBe(version),
    /** Waits until all workers run the endpoint's version `version`, and none is starting. */
    async rolledOut(version: number) {
      const rollout = async () => (await v2("/releases")).json;
      await expect.poll(rollout).toMatchObject({ endpointVersion: version, rollout: { inProgress: false } });
      await expect
        .poll(async () =>
          (await workers()).every((worker) => worker.version === version && worker.status !== "INITIALIZING"),
        )
        .toBe(true);
    },
    /** Waits until `count` more workers have started. */
    async moreStarts(count: number) {
      const before = workerIds.size;
      await expect.poll(() => workerIds.size).toBeGreaterThanOrEqual(before + count);
    },
    /** The largest number of workers so far. */
    max: () => max,
  };
}
