import { text } from "node:stream/consumers";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { readStore } from "../../../../service/store/database";
import { readWorkerToken } from "../../../../service/workers/tokens";
import type { JobApi } from "../../../support/job-api";
import { useLocalService } from "../../../support/local-service";
import { serve } from "../../../support/loopback";
import { allowSecret } from "../../../support/secret-scan";
import { images, shortTimings } from "./support/programs";

const env = z.record(z.string(), z.string());

/** Starts a receiver of webhooks, closed after the test. */
async function receiveBodies() {
  const bodies: string[] = [];
  const origin = await serve(async (request, response) => {
    bodies.push(await text(request));
    response.end();
  });
  return { url: `${origin}/`, bodies };
}

/** The records of all jobs in a store. */
const storedErrors = (dataFolder: string): string =>
  JSON.stringify(readStore(dataFolder, "SELECT record FROM jobs", z.object({ record: z.string() })));

test("a worker has only its own environment, without variables of the host", async () => {
  vi.stubEnv("OF_THE_HOST_ONLY", "1");
  onTestFinished(() => void vi.unstubAllEnvs());
  const rig = await useLocalService({ images, timings: shortTimings });
  const variables = { MODEL: "m", RUNPOD_POD_ID: "forged", RUNPOD_DEBUG_LEVEL: "WARN" };
  const jobs = await rig.jobsOn("tool", {}, { env: variables });
  const job = await jobs.reaches(await jobs.submit({ do: "env" }));
  const received = env.parse(job["output"]);
  const others = Object.keys(received).filter((name) => !name.startsWith("RUNPOD_"));
  expect(others.sort()).toEqual(["HOME", "LANG", "MODEL", "PATH", "PYTHONUNBUFFERED", "TMPDIR"]);
  expect(received).toMatchObject({ MODEL: "m", RUNPOD_POD_ID: job["workerId"], RUNPOD_ENDPOINT_ID: jobs.id });
  expect(received, "variables of the template").toMatchObject({ RUNPOD_DEBUG_LEVEL: "WARN" });
  expect(received["HOME"]).toContain(rig.dataFolder);
});

test("dockerArgs are the worker's arguments; dockerEntrypoint and startScript are stored but not run", async () => {
  const rig = await useLocalService({ images, timings: shortTimings });
  const jobs = await rig.jobsOn("tool", {}, { dockerEntrypoint: ["/nowhere"], dockerStartCmd: ["first"] });
  const templates = async () =>
    z.array(z.looseObject({ id: z.string(), name: z.string() })).parse((await rig.rest("GET", "/templates")).json);
  const [created] = await templates();
  const dockerArgs = '{"entrypoint":["/nowhere"],"cmd":["--model","a b"]}';
  const input = `id: "${created?.id}", name: "${created?.name}", containerDiskInGb: 5, volumeInGb: 0, dockerArgs: ${JSON.stringify(dockerArgs)}, env: []`;
  await rig.graphql(`mutation { saveTemplate(input: { ${input}, startScript: "exit 1" }) { id } }`);
  expect(await templates()).toMatchObject([{ dockerEntrypoint: ["/nowhere"], startScript: "exit 1" }]);
  const { status, output } = await jobs.reaches(await jobs.submit({ do: "args" }));
  expect({ status, output }).toEqual({ status: "COMPLETED", output: ["--model", "a b"] });
});

test("the error of a handler has no secret values: in /status, in its webhook and in the store", async () => {
  const rig = await useLocalService({ images, timings: { ...shortTimings, pollHold: 100 } });
  const received = await receiveBodies();
  const value = 'the "hidden" välue\nof 2 lines';
  await rig.graphql(`mutation { secretCreate(input: {name: "hush", value: ${JSON.stringify(value)}}) { id } }`);
  const template = { env: { SECRET: "{{ RUNPOD_SECRET_hush }}" } };
  const tool = await rig.jobsOn("tool", {}, template);
  const external = await rig.jobsOn("elsewhere", { workersMax: 0 }, template);
  const errors = new Map<string, unknown>();
  const submit = (jobs: JobApi, input: object) => jobs.submit(input, { webhook: received.url });
  const recordEnd = async (jobs: JobApi, id: string) => errors.set(id, (await jobs.reaches(id, "FAILED"))["error"]);
  for (const action of ["throwSecret", "errorWithSecret"]) await recordEnd(tool, await submit(tool, { do: action }));
  const authorization = readWorkerToken(rig.dataFolder, external.id) ?? "";
  for (const error of [
    `denied for ${value} and ${authorization}`,
    { error_message: value },
    // The Python SDK sends JSON text with escapes.
    JSON.stringify({ error_message: value }).replace("ä", "\\u00e4"),
  ]) {
    const id = await submit(external, {});
    await external.call("GET", "/job-take/w?gpu=x", undefined, { headers: { authorization } });
    await external.call("POST", `/job-done/w/${id}?gpu=x`, { error }, { headers: { authorization } });
    await recordEnd(external, id);
  }
  await expect.poll(() => received.bodies.length).toBe(errors.size);
  await rig.stop();
  for (const text of [...errors.values(), ...received.bodies, storedErrors(rig.dataFolder)].map(String)) {
    expect(text).toContain("[secret]");
    for (const part of ["hidden", "of 2 lines", authorization, String(readWorkerToken(rig.dataFolder, tool.id))])
      expect(text).not.toContain(part);
  }
});

test("the output of workers is in the endpoint's log, without secret values", async () => {
  // JobApi receive and return the value, so the store contains it; the log must not.
  allowSecret("s3cr3t-value");
  const rig = await useLocalService({ images, timings: shortTimings });
  await rig.graphql('mutation { secretCreate(input: {name: "hush", value: "s3cr3t-value"}) { id } }');
  const jobs = await rig.jobsOn("tool", {}, { env: { SECRET: "{{ RUNPOD_SECRET_hush }}" } });
  expect(env.parse((await jobs.reaches(await jobs.submit({ do: "env" })))["output"])["SECRET"]).toBe("s3cr3t-value");
  await jobs.reaches(await jobs.submit({ do: "say", text: "hello s3cr3t-value" }));
  const crashed = await jobs.reaches(await jobs.submit({ do: "crash" }));
  expect(crashed).toMatchObject({ status: "FAILED", error: expect.stringContaining("last words [secret]") });
  await rig.stop();
  const log = await rig.workerLog(jobs.id);
  expect(log.match(/hello \[secret\]/g)).toHaveLength(2);
  expect(log).not.toContain("s3cr3t-value");
});
