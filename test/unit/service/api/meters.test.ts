import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClients } from "serverless-compute-api";
import { createService, type Service } from "serverless-compute-local";
import { afterAll, beforeAll, expect, test } from "vitest";
import { send } from "../../../support/raw-http";
import { discardServiceFolder } from "../../../support/service-artefacts";
import { handlerFile } from "../../../support/target";

let service: Service;
let clients: ReturnType<typeof createClients>;
let dataFolder: string;
beforeAll(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), "metrics-"));
  const images = {
    "a/echo:1": handlerFile("echo"),
    "a/fail:1": handlerFile("fail"),
    "a/broken:1": 'node -e "process.exit(3)"',
  };
  service = await createService({ port: 0, dataFolder, images });
  clients = createClients(service);
});
afterAll(async () => {
  await clients.close();
  await service.stop(0);
  await discardServiceFolder(dataFolder);
});

async function endpoint(name: string): Promise<string> {
  const template = { name, imageName: `a/${name}:1`, containerDiskInGb: 5, volumeInGb: 0, isServerless: true };
  const { id: templateId } = await clients.management.createTemplate(template);
  return (await clients.management.createEndpoint({ templateId, name, workersMin: 0, workersMax: 1 })).id;
}
const run = async (endpointId: string, input: object): Promise<string> => {
  const jobs = `${service.serverlessUrl}/v2/${endpointId}`;
  return (await send("POST", `${jobs}/runsync`, { key: service.apiKey, json: { input } })).text;
};
const scrape = () => send("GET", `${service.url}/metrics`);
/** The values of the samples whose name and labels begin with a text. */
const samples = async (start: string): Promise<Record<string, number>> =>
  Object.fromEntries(
    (await scrape()).text
      .split("\n")
      .filter((line) => line.startsWith(`serverless_compute_${start}`))
      .map((line) => line.slice("serverless_compute_".length))
      .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
  );

test("/metrics responds in the text format of Prometheus, without a key on this machine", async () => {
  const response = await scrape();
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(response.text).toContain("# TYPE serverless_compute_job_queue_seconds histogram");
});

test("/metrics counts jobs by state with their times, and workers", async () => {
  const [echo, fail] = [await endpoint("echo"), await endpoint("fail")];
  for (let job = 0; job < 3; job++) await run(echo, { job });
  await run(fail, {});
  expect(await samples("endpoint_info")).toMatchObject({
    [`endpoint_info{endpoint="${echo}",name="echo"}`]: 1,
    [`endpoint_info{endpoint="${fail}",name="fail"}`]: 1,
  });
  expect(await samples("jobs_ended_total")).toEqual({
    [`jobs_ended_total{endpoint="${echo}",state="COMPLETED"}`]: 3,
    [`jobs_ended_total{endpoint="${fail}",state="FAILED"}`]: 1,
  });
  for (const name of ["job_queue_seconds", "job_execution_seconds"]) {
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

test("/metrics counts failed worker starts, and removes deleted endpoints", async () => {
  const broken = await endpoint("broken");
  const job = run(broken, {});
  const failures = `worker_start_failures_total{endpoint="${broken}"}`;
  await expect.poll(async () => (await samples("worker_start_failures_total"))[failures]).toBeGreaterThan(0);
  await clients.management.deleteEndpoint(broken);
  await job;
  await expect.poll(async () => (await scrape()).text).not.toContain(broken);
});
