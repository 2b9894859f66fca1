import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createService, type Service } from "serverless-compute-local";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { serviceFolder } from "../../../support/folders";
import { useLocalService } from "../../../support/local-service";
import { at, send } from "../../../support/raw-http";
import { runLine } from "./command";

const whole = `
images:
  acme/echo:1: ./echo.mjs
secrets:
  token: { valueFromEnv: APPLY_TEST_TOKEN }
volumes:
  models: { size: 10, dataCenter: EU-RO-1 }
templates:
  base: { image: "acme/echo:1", serverless: true, env: { MODE: fast } }
endpoints:
  shared:
    template: base
    type: QUEUE
    gpu: { pools: [AMPERE_24] }
    networkVolumes: [models]
    scaling: { type: QUEUE_DELAY, queueDelay: 4 }
  own:
    image: acme/echo:1
    env: { MODE: fast, SIZE: small }
    type: QUEUE
    cpu: [{ id: cpu3c, vcpuCount: 2 }]
    workers: { min: 0, max: 2 }
    scaling: { type: QUEUE_DELAY, queueDelay: 4 }
`;

let folder: string;
let file: string;
let data: string;
beforeEach(() => {
  folder = serviceFolder();
  file = join(folder, "endpoints.yaml");
  data = join(folder, "data");
  writeFileSync(join(folder, "echo.mjs"), "export default ({ input }) => input;");
  vi.stubEnv("APPLY_TEST_TOKEN", "hidden-value");
});
afterEach(() => void vi.unstubAllEnvs());

async function start({ hasSeed = true } = {}): Promise<{ service: Service; notices: string[] }> {
  writeFileSync(file, whole);
  const notices: string[] = [];
  const onNotice = (notice: string) => void notices.push(notice);
  const { service } = await useLocalService({ dataFolder: data, onNotice, ...(hasSeed && { seed: file }) });
  return { service, notices };
}
const change = (...replacements: [from: string | RegExp, to: string][]): void =>
  writeFileSync(
    file,
    replacements.reduce((text, [from, to]) => text.replace(from, to), readFileSync(file, "utf8")),
  );
const apply = () => runLine("apply", "--data", data);
const objects = async ({ url, apiKey: key }: Service, path: string): Promise<unknown> =>
  (await send("GET", `${url}/v2${path}`, { key })).json;

test("an unchanged file changes nothing", async () => {
  await start();
  expect(await apply()).toEqual({ code: 0, out: `${file}: no changes`, err: "" });
});

test("the service has minutes to apply a file with thousands of objects", async () => {
  await start();
  const timeout = vi.spyOn(AbortSignal, "timeout");
  onTestFinished(() => timeout.mockRestore());
  await apply();
  expect(timeout).toHaveBeenCalledWith(300_000);
});

test("new and changed objects of each section are created and updated, without values of secrets", async () => {
  const { service } = await start();
  vi.stubEnv("APPLY_TEST_TOKEN", "another-hidden-value");
  change(
    ["size: 10", "size: 20"],
    ["MODE: fast } }\nendpoints", "MODE: slow } }\nendpoints"],
    ["SIZE: small", "SIZE: large"],
    ["max: 2", "max: 5"],
    [/$/, "  extra:\n    image: acme/echo:1\n    type: QUEUE\n    gpu: { pools: [AMPERE_24] }\n"],
    [/$/, "    scaling: { type: QUEUE_DELAY, queueDelay: 4 }\n"],
  );
  const { code, out, err } = await apply();
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out.split("\n")).toEqual([
    "created endpoints.extra",
    "updated secrets.token",
    "  secrets.token.value: changed",
    "updated volumes.models",
    "  volumes.models.size: 10 → 20",
    "updated templates.base",
    "  templates.base.env.MODE: changed",
    "updated endpoints.shared",
    "  endpoints.shared.env.MODE: changed",
    "updated endpoints.own",
    "  endpoints.own.env.SIZE: changed",
    "  endpoints.own.workers.max: 2 → 5",
  ]);
  expect(out).not.toContain("hidden-value");
  expect(await objects(service, "/network-volumes")).toMatchObject({ networkVolumes: [{ size: 20 }] });
  expect(await objects(service, "/templates")).toMatchObject({ templates: [{ env: { MODE: "slow" } }] });
  expect(await objects(service, "/serverless")).toMatchObject({
    endpoints: [
      { name: "extra" },
      { name: "own", env: { MODE: "fast", SIZE: "large" }, workers: { max: 5 } },
      { name: "shared", env: { MODE: "slow" } },
    ],
  });
  expect((await apply()).out).toBe(`${file}: no changes`);
});

test("a difference that an update cannot remove is reported, and sections of the start need a restart", async () => {
  const { service } = await start();
  change(["dataCenter: EU-RO-1", "dataCenter: US-KS-2"], [/^images:.*\n.*\n/m, "images:\n  acme/echo:2: ./echo.mjs\n"]);
  change([/^secrets/m, "simulate: { workerQuota: 9 }\nsecrets"]);
  const { code, out, err } = await apply();
  expect(code).toBe(0);
  expect(out).toBe(`${file}: no changes`);
  expect(err.split("\n")).toEqual([
    `serverless-compute-local: ${file}: volumes.models.dataCenter: "US-KS-2" in the file, "EU-RO-1" in the service; delete the object, or revert the file`,
    `serverless-compute-local: ${file}: images: takes effect when the service restarts`,
    `serverless-compute-local: ${file}: simulate: takes effect when the service restarts`,
  ]);
  expect(await objects(service, "/network-volumes")).toMatchObject({ networkVolumes: [{ dataCenter: "EU-RO-1" }] });
});

test("objects that the file no longer contains are named and unchanged", async () => {
  const { service } = await start();
  const before = await objects(service, "/serverless");
  change([/ {2}own:[\s\S]*$/, ""]);
  const { code, out, err } = await apply();
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out.split("\n")).toEqual([`${file}: no changes`, "not in the file and unchanged: endpoints.own"]);
  expect(await objects(service, "/serverless")).toEqual(before);
});

test.each<[string, [string, string], RegExp]>([
  ["an invalid value of an existing object", ["max: 2", "max: -2"], /endpoints\.own\.workers\.max: -2 is not allowed/],
  [
    "an invalid value of a new object",
    ["endpoints:\n", "endpoints:\n  more: { image: 4 }\n"],
    /endpoints\.more\.image/,
  ],
  ["text that is not YAML", ["images:", "images: {"], /at line \d+/],
])("%s changes nothing, and the error names its place", async (_what, replacement, message) => {
  const { service } = await start();
  const before = await objects(service, "/serverless");
  change(["size: 10", "size: 20"], replacement);
  const { code, err } = await apply();
  expect(code).toBe(1);
  expect(err).toContain(`serverless-compute-local: ${file}: `);
  expect(err).toMatch(message);
  expect(await objects(service, "/network-volumes")).toMatchObject({ networkVolumes: [{ size: 10 }] });
  expect(await objects(service, "/serverless")).toEqual(before);
});

test("the quota of workers applies again after an apply, also if it fails", async () => {
  writeFileSync(file, whole);
  const limited = { port: 0, dataFolder: data, runtime: "none", workerQuota: 5 } as const;
  const service = await createService({ ...limited, seed: file });
  onTestFinished(() => service.stop(0));
  const create = () =>
    send("POST", `${service.url}/v2/serverless`, {
      key: service.apiKey,
      json: {
        name: "above",
        image: "acme/echo:1",
        type: "QUEUE",
        gpu: { pools: ["AMPERE_24"] },
        workers: { max: 9 },
        scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
      },
    });
  const { status } = await create();
  expect(status).toBeGreaterThanOrEqual(400);
  expect((await apply()).code).toBe(0);
  expect((await create()).status).toBe(status);
  change(["max: 2", "max: -2"]);
  expect((await apply()).code).toBe(1);
  expect((await create()).status).toBe(status);
});

test("a service without a seed file, and a folder without a service, are errors", async () => {
  expect((await apply()).err).toContain(`no service uses the folder ${data}`);
  const { service } = await start({ hasSeed: false });
  expect(await apply()).toMatchObject({
    code: 1,
    err: "serverless-compute-local: the service was started without a seed file; start it again with --seed <file>",
  });
  expect(at(await objects(service, "/serverless"), "endpoints")).toEqual([]);
});

test("a change of the file is noticed once, and names the command that applies it", async () => {
  const { notices } = await start();
  change(["max: 2", "max: 5"]);
  await expect.poll(() => notices, { timeout: 20_000 }).not.toEqual([]);
  expect(notices).toEqual([
    `${file}: changed; run "serverless-compute-local apply", because a restart only creates missing objects`,
  ]);
});
