import { describe, expect, test } from "vitest";
import type { JobApi } from "../support/job-api";
import { at, expectResponse, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { saveTemplate, templateFields, uniqueName, useAccount } from "./support/account";
import { longJob, runLongJob } from "./support/long-job";

const target = await useTarget();
const account = useAccount(target);
const workers = async (jobs: JobApi): Promise<number> => {
  const { workers } = await jobs.health();
  return (workers["idle"] ?? 0) + (workers["running"] ?? 0);
};

describe("Endpoint fields: workersMin, workersMax, idleTimeout, scaler", () => {
  test("idleTimeout never reduces workers below workersMin", async (context) => {
    const jobs = await account.jobsOn("echo", context, { idleTimeout: 1, workersMin: 1 });
    const first = await jobs.reaches(await jobs.submit({}), "COMPLETED");
    await target.advance(3_000, context);
    expect(await workers(jobs)).toBe(1);
    const next = await jobs.reaches(await jobs.submit({}), "COMPLETED");
    expect(next["workerId"]).toBe(first["workerId"]);
  });

  test("workersMax lowered to 0: the running job finishes, then no worker remains and jobs stay queued", async (context) => {
    const jobs = await account.jobsOn("slow", context);
    const { id: running, end } = await runLongJob(target, context, jobs);
    await account.rest("PATCH", `/endpoints/${jobs.id}`, { workersMax: 0 });
    end();
    await jobs.reaches(running, "COMPLETED");
    await expect.poll(() => workers(jobs)).toBe(0);
    const waiting = await jobs.submit({});
    await target.advance(10_000, context);
    expectResponse(await jobs.status(waiting), 200, { status: "IN_QUEUE" });
    expect(await workers(jobs)).toBe(0);
    await account.rest("PATCH", `/endpoints/${jobs.id}`, { workersMax: 1 });
    await jobs.reaches(waiting, "COMPLETED");
  });

  test("REQUEST_COUNT: one worker per scalerValue jobs", async (context) => {
    const jobs = await account.jobsOn("slow", context, { workersMax: 4, scalerType: "REQUEST_COUNT", scalerValue: 2 });
    const { input, end } = longJob(target, context);
    for (let n = 0; n < 4; n += 1) await jobs.submit(input);
    await expect.poll(async () => (await jobs.health()).jobs["inProgress"]).toBe(2);
    // Workers that are starting count from the decision to start them.
    expect(await jobs.health()).toMatchObject({
      jobs: { inProgress: 2, inQueue: 2 },
      workers: { running: 2, idle: 0, initializing: 0 },
    });
    end();
  });
});

describe("Changes that restart workers", () => {
  test("a change of GPU types lets the running job finish, and the next job runs", async (context) => {
    const jobs = await account.jobsOn("slow", context);
    const { id: running, end } = await runLongJob(target, context, jobs);
    await account.rest("PATCH", `/endpoints/${jobs.id}`, { gpuTypeIds: ["NVIDIA A40"] });
    end();
    const before = await jobs.reaches(running, "COMPLETED");
    const next = await jobs.reaches(await jobs.submit({}), "COMPLETED");
    expect(next["workerId"]).not.toBe(before["workerId"]);
    expect(await jobs.health()).toMatchObject({ jobs: { retried: 0, completed: 2 } });
  });

  test("a change of the template's env applies to the next job", async (context) => {
    const name = uniqueName("template");
    const env = (value: string) => [{ key: "COLOUR", value }];
    const jobs = await account.jobsOn("env", context, {}, { name, env: env("red") });
    expectResponse(await jobs.runsync({ names: ["COLOUR"] }), 200, { output: { COLOUR: "red" } });
    const { json } = await account.rest("GET", `/endpoints/${jobs.id}`);
    const fields = { id: at(json, "templateId"), name, imageName: target.image("env", context), env: env("blue") };
    const saved = await account.graphql(saveTemplate, { input: templateFields(fields) });
    expect(stringAt(saved, "data", "saveTemplate", "name")).toBe(name);
    expectResponse(await jobs.runsync({ names: ["COLOUR"] }), 200, { output: { COLOUR: "blue" } });
  });
});
