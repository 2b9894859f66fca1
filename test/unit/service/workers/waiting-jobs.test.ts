import { writeFileSync } from "node:fs";
import { type Clock, wallClock } from "serverless-compute-api/clock";
import { expect, test } from "vitest";
import { readWorkerToken } from "../../../../service/workers/tokens";
import type { JobApi } from "../../../support/job-api";
import { type LocalService, useLocalService } from "../../../support/local-service";
import { at, stringAt } from "../../../support/raw-http";
import { images, scratchFile, shortTimings } from "./support/programs";

/** An image whose workers end before they request a job. */
const broken = { broken: `/bin/sh -c "echo 'no driver' >&2; exit 7"` };
const useRig = (): Promise<LocalService> =>
  useLocalService({ images: { ...images, ...broken }, timings: { ...shortTimings, pollHold: 100 } });
const low = { policy: { lowPriority: true } };

/** Waits until workers of a broken image have exceeded the number of failures that fails a job. */
async function failedStarts(rig: LocalService, jobs: JobApi, times: number): Promise<void> {
  const ended = async (): Promise<number> =>
    (await rig.workerLog(jobs.id).catch(() => "")).split("worker ended with exit code 7").length - 1;
  await expect.poll(ended).toBeGreaterThanOrEqual(times);
}

test.each([-3_600_000, 3_600_000])(
  "a job that has waited too long starts a worker, and workers keep their uptime, if the system time changes by %i ms",
  async (change) => {
    let ahead = 0;
    const clock: Clock = { ...wallClock, now: () => wallClock.now() + ahead };
    const rig = await useLocalService({ images, timings: shortTimings, clock });
    const jobs = await rig.jobsOn("tool", { workersMax: 2, scalerType: "QUEUE_DELAY", scalerValue: 1 });
    const file = scratchFile();
    const first = await jobs.submit({ do: "waitForFile", file });
    await jobs.reaches(first, "IN_PROGRESS");
    const second = await jobs.submit({ do: "echo" });
    ahead = change;
    expect(await jobs.reaches(second)).toMatchObject({ status: "COMPLETED" });
    const { json } = await rig.v2("GET", `/serverless/${jobs.id}/workers`);
    for (const worker of [0, 1]) {
      expect(at(json, "workers", worker, "uptimeSeconds")).toBeLessThan(600);
      expect(Math.abs(Date.parse(String(at(json, "workers", worker, "startedAt"))) - clock.now())).toBeLessThan(
        600_000,
      );
    }
    writeFileSync(file, "");
    expect(await jobs.reaches(first)).toMatchObject({ status: "COMPLETED" });
  },
);

test("a job whose image has no command stays queued, and /health and the log name the reason", async () => {
  const rig = await useRig();
  const jobs = await rig.jobsOn("acme/none:1");
  const id = await jobs.submit({});
  await jobs.healthBecomes(({ workers }) => workers["throttled"] === 1);
  const reason = "start the service with --image acme/none:1=COMMAND";
  expect((await jobs.health()).message).toContain(reason);
  await expect.poll(() => rig.workerLog(jobs.id)).toContain(reason);
  expect(await jobs.reaches(id, "IN_QUEUE")).not.toHaveProperty("error");
});

test("a job stays queued while a secret is missing, and runs once its template no longer uses it", async () => {
  const rig = await useRig();
  const jobs = await rig.jobsOn("tool", {}, { env: { TOKEN: "{{ RUNPOD_SECRET_nowhere }}" } });
  const id = await jobs.submit({ do: "echo" });
  await jobs.healthBecomes(({ workers }) => workers["throttled"] === 1);
  expect((await jobs.health()).message).toContain('"nowhere"');
  await jobs.reaches(id, "IN_QUEUE");
  const templateId = stringAt(await rig.rest("GET", `/endpoints/${jobs.id}`), "templateId");
  await rig.rest("PATCH", `/templates/${templateId}`, { env: {} });
  expect(await jobs.reaches(id)).toMatchObject({ status: "COMPLETED" });
  expect((await jobs.health()).message).toBeUndefined();
  expect((await jobs.health()).workers).toMatchObject({ throttled: 0 });
});

test("low-priority jobs that start no worker, and jobs whose worker reports itself unhealthy, wait with a reason", async () => {
  const rig = await useRig();
  const jobs = await rig.jobsOn("acme/none:1", { workersMax: 3 });
  const headers = { authorization: readWorkerToken(rig.dataFolder, jobs.id) ?? "" };
  await jobs.submit({}, low);
  expect((await jobs.health()).message).toMatch(/^only low-priority jobs wait/);
  await jobs.call("GET", "/job-take/far?gpu=x", undefined, { headers });
  await jobs.submit({}, low);
  await jobs.call("GET", "/ping/far?status=unhealthy&reason=no+GPU", undefined, { headers });
  expect((await jobs.health()).message).toBe("worker far is unhealthy: no GPU");
});

test("three failed starts fail the queued jobs, except those of low priority", async () => {
  const rig = await useRig();
  const jobs = await rig.jobsOn("broken");
  const patient = await jobs.submit({}, low);
  const id = await jobs.submit({});
  expect((await jobs.reaches(id))["error"]).toMatch(/ended with exit code 7, before it requested a job.*\nno driver$/s);
  expect(await jobs.reaches(patient, "IN_QUEUE")).not.toHaveProperty("error");
  expect((await jobs.health()).message).toContain("no driver");
});

test.each([
  [
    "whose handler file does not exist",
    "/nowhere/absent.mjs",
    /absent\.mjs .*does not exist; specify an existing file/,
  ],
  ["whose command line cannot be read", "run 'this", /cannot be read: .*is not closed/],
])(
  "three attempts to start the worker of an image %s fail the queued jobs with the reason",
  async (_image, command, reason) => {
    const notices: string[] = [];
    const options = {
      images: { broken: command },
      timings: shortTimings,
      onNotice: (text: string) => void notices.push(text),
    };
    const rig = await useLocalService(options);
    expect(notices, "a warning at the start of the service").toEqual([expect.stringMatching(reason)]);
    const jobs = await rig.jobsOn("broken");
    const patient = await jobs.submit({}, low);
    const id = await jobs.submit({});
    expect(await jobs.reaches(id)).toMatchObject({ status: "FAILED", error: expect.stringMatching(reason) });
    await jobs.reaches(patient, "IN_QUEUE");
    expect((await jobs.health()).message).toMatch(reason);
  },
);

test("failed starts fail no job if a remote worker has ever registered, even before a restart", async () => {
  const rig = await useRig();
  const jobs = await rig.jobsOn("broken");
  const headers = { authorization: readWorkerToken(rig.dataFolder, jobs.id) ?? "" };
  const take = () => jobs.call("GET", "/job-take/far?gpu=x", undefined, { headers });
  expect((await take()).status).toBe(204);
  const id = await jobs.submit({});
  await failedStarts(rig, jobs, 4);
  await jobs.reaches(id, "IN_QUEUE");
  await rig.restart();
  await failedStarts(rig, jobs, 8);
  await jobs.reaches(id, "IN_QUEUE");
  expect((await take()).json).toMatchObject({ id });
  await jobs.call("POST", `/job-done/far/${id}?gpu=x`, { output: 1 }, { headers });
  expect(await jobs.reaches(id)).toMatchObject({ status: "COMPLETED", output: 1 });
});
