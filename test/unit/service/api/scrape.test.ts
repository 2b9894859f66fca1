import { expect, test } from "vitest";
import { useLocalService, useSharedService } from "../../../support/local-service";
import { send, stringAt } from "../../../support/raw-http";
import { handlerFile } from "../../../support/target";

const rig = await useSharedService({
  images: {
    "a/echo:1": handlerFile("echo"),
    "a/fail:1": handlerFile("fail"),
    "a/broken:1": 'node -e "process.exit(3)"',
  },
});
const endpoint = (name: string) => rig.jobsOn(`a/${name}:1`, { name });
const scrape = (root = rig.root) => send("GET", `${root}/metrics`);
/** The values of the samples whose name and labels begin with a text. */
const samples = async (start: string, root?: string): Promise<Record<string, number>> =>
  Object.fromEntries(
    (await scrape(root)).text
      .split("\n")
      .filter((line) => line.startsWith(`serverless_compute_${start}`))
      .map((line) => line.slice("serverless_compute_".length))
      .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
  );

test("/metrics counts jobs by state with their times, and workers", async () => {
  const [{ id: echo, call }, { id: fail, call: callFail }] = [await endpoint("echo"), await endpoint("fail")];
  for (let job = 0; job < 3; job++) await call("POST", "/runsync", { input: { job } });
  await callFail("POST", "/runsync", { input: {} });
  expect(await samples("endpoint_info")).toMatchObject({
    [`endpoint_info{endpoint="${echo}",name="echo"}`]: 1,
    [`endpoint_info{endpoint="${fail}",name="fail"}`]: 1,
  });
  expect(await samples("jobs_ended_total")).toMatchObject({
    [`jobs_ended_total{endpoint="${echo}",state="COMPLETED"}`]: 3,
    [`jobs_ended_total{endpoint="${fail}",state="FAILED"}`]: 1,
  });
  for (const name of ["job_queue_seconds", "job_execution_seconds"]) {
    expect((await scrape()).text).toContain(`# TYPE serverless_compute_${name} histogram`);
    expect(await samples(`${name}_count`)).toMatchObject({ [`${name}_count{endpoint="${echo}"}`]: 3 });
    expect(await samples(`${name}_bucket`)).toMatchObject({ [`${name}_bucket{le="+Inf",endpoint="${echo}"}`]: 3 });
  }
  expect(await samples("jobs{")).toMatchObject({
    [`jobs{endpoint="${echo}",state="IN_QUEUE"}`]: 0,
    [`jobs{endpoint="${echo}",state="IN_PROGRESS"}`]: 0,
  });
  const workers = await samples("workers{");
  expect(workers[`workers{endpoint="${echo}",state="idle"}`]).toBe(1);
  expect(workers[`workers{endpoint="${echo}",state="unhealthy"}`]).toBe(0);
});

test("/metrics counts the ended jobs by final state across a restart", async () => {
  const local = await useLocalService({ images: { "a/echo:1": handlerFile("echo"), "a/fail:1": handlerFile("fail") } });
  const echo = await local.jobsOn("a/echo:1");
  const fail = await local.jobsOn("a/fail:1");
  const none = await local.jobsOn("acme/none:1");
  await echo.call("POST", "/runsync", { input: {} });
  await fail.call("POST", "/runsync", { input: {} });
  const submitted = await none.call("POST", "/run", { input: {} });
  await none.call("POST", `/cancel/${stringAt(submitted, "id")}`);
  await local.restart();
  const ended = await samples("jobs_ended_total", local.root);
  expect(Object.fromEntries(Object.entries(ended).filter(([, count]) => count > 0))).toEqual({
    [`jobs_ended_total{endpoint="${echo.id}",state="COMPLETED"}`]: 1,
    [`jobs_ended_total{endpoint="${fail.id}",state="FAILED"}`]: 1,
    [`jobs_ended_total{endpoint="${none.id}",state="CANCELLED"}`]: 1,
  });
});

test("/metrics counts failed worker starts, and removes deleted endpoints", async () => {
  const { id: broken, call } = await endpoint("broken");
  const job = call("POST", "/runsync", { input: {} });
  const failures = `worker_start_failures_total{endpoint="${broken}"}`;
  await expect.poll(async () => (await samples("worker_start_failures_total"))[failures]).toBeGreaterThan(0);
  await rig.rest("DELETE", `/endpoints/${broken}`);
  await job;
  await expect.poll(async () => (await scrape()).text).not.toContain(broken);
});
