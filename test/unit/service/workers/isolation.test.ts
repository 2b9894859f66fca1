import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { allowSecret } from "../../../support/secret-scan";
import { useJobRig } from "../jobs/support/job-rig";
import { images, shortTimings } from "./support/programs";

const env = z.record(z.string(), z.string());

test("a worker has only its own environment, without variables of the host", async () => {
  vi.stubEnv("OF_THE_HOST_ONLY", "1");
  onTestFinished(() => void vi.unstubAllEnvs());
  const rig = await useJobRig({ images, timings: shortTimings });
  const variables = { MODEL: "m", RUNPOD_POD_ID: "forged", RUNPOD_DEBUG_LEVEL: "WARN" };
  const jobs = await rig.endpoint("tool", {}, { env: variables });
  const job = await jobs.reaches(await jobs.run({ do: "env" }));
  const received = env.parse(job["output"]);
  expect(Object.keys(received).sort()).toEqual([
    "HOME",
    "LANG",
    "MODEL",
    "PATH",
    "PYTHONUNBUFFERED",
    "RUNPOD_AI_API_KEY",
    "RUNPOD_DEBUG_LEVEL",
    "RUNPOD_ENDPOINT_ID",
    "RUNPOD_PING_INTERVAL",
    "RUNPOD_POD_ID",
    "RUNPOD_SKIP_AUTO_SYSTEM_CHECKS",
    "RUNPOD_SKIP_GPU_CHECK",
    "RUNPOD_WEBHOOK_GET_JOB",
    "RUNPOD_WEBHOOK_PING",
    "RUNPOD_WEBHOOK_POST_OUTPUT",
    "RUNPOD_WEBHOOK_POST_STREAM",
    "TMPDIR",
  ]);
  expect(received).toMatchObject({ MODEL: "m", RUNPOD_POD_ID: job["workerId"], RUNPOD_ENDPOINT_ID: jobs.id });
  expect(received, "variables of the template").toMatchObject({ RUNPOD_DEBUG_LEVEL: "WARN" });
  expect(received["HOME"]).toContain(rig.dataFolder);
});

test("dockerArgs are the worker's arguments; dockerEntrypoint and startScript are stored but not run", async () => {
  const rig = await useJobRig({ images, timings: shortTimings });
  const jobs = await rig.endpoint("tool", {}, { dockerEntrypoint: ["/nowhere"], dockerStartCmd: ["first"] });
  const templates = async () =>
    z.array(z.looseObject({ id: z.string(), name: z.string() })).parse((await rig.rest("GET", "/templates")).json);
  const [created] = await templates();
  const dockerArgs = "--model 'a b'";
  const input = `id: "${created?.id}", name: "${created?.name}", containerDiskInGb: 5, volumeInGb: 0, dockerArgs: "${dockerArgs}", env: []`;
  await rig.graphql(`mutation { saveTemplate(input: { ${input}, startScript: "exit 1" }) { id } }`);
  expect(await templates()).toMatchObject([{ dockerEntrypoint: ["/nowhere"], startScript: "exit 1" }]);
  const { status, output } = await jobs.reaches(await jobs.run({ do: "args" }));
  expect({ status, output }).toEqual({ status: "COMPLETED", output: ["--model", "a b"] });
});

test("the output of workers is in the endpoint's log, without secret values", async () => {
  // Jobs receive and return the value, so the store contains it; the log must not.
  allowSecret("s3cr3t-value");
  const rig = await useJobRig({ images, timings: shortTimings });
  await rig.graphql('mutation { secretCreate(input: {name: "hush", value: "s3cr3t-value"}) { id } }');
  const jobs = await rig.endpoint("tool", {}, { env: { SECRET: "{{ RUNPOD_SECRET_hush }}" } });
  expect(env.parse((await jobs.reaches(await jobs.run({ do: "env" })))["output"])["SECRET"]).toBe("s3cr3t-value");
  await jobs.reaches(await jobs.run({ do: "say", text: "hello s3cr3t-value" }));
  const crashed = await jobs.reaches(await jobs.run({ do: "crash" }));
  expect(crashed).toMatchObject({ status: "FAILED", error: expect.stringContaining("last words [secret]") });
  await rig.stop();
  const log = await rig.workerLog(jobs.id);
  expect(log.match(/hello \[secret\]/g)).toHaveLength(2);
  expect(log).not.toContain("s3cr3t-value");
});
