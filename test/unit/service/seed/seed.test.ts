import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createService, type Service } from "serverless-compute-local";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { v2Controllers } from "../../../../service/api/management/controllers";
import { createPager } from "../../../../service/api/management/pages";
import { StartError } from "../../../../service/errors";
import type { Resources } from "../../../../service/resources";
import { readSeedFile } from "../../../../service/seed/seed-file";
import { applySeed } from "../../../../service/seed/seeding";
import { serviceFolder } from "../../../support/folders";
import { useLocalService } from "../../../support/local-service";
import { at, send } from "../../../support/raw-http";
import { useResources } from "../resources/resources-rig";

const whole = `
images:
  acme/echo:1: ./echo.mjs
secrets:
  token: { valueFromEnv: SEED_TEST_TOKEN, description: of the tests }
volumes:
  models: { size: 10, dataCenter: EU-RO-1 }
templates:
  base: { image: "acme/echo:1", serverless: true, env: { MODE: fast } }
endpoints:
  echo:
    template: base
    type: QUEUE
    gpu: { pools: [AMPERE_24] }
    networkVolumes: [models]
    workers: { min: 0, max: 2 }
    scaling: { type: QUEUE_DELAY, queueDelay: 4 }
`;

/** An endpoint with its own container. */
const own = `
images:
  acme/echo:1: ./echo.mjs
endpoints:
  own:
    image: acme/echo:1
    args: --fast
    disk: 7
    env: { MODE: fast }
    ports: [8080/http]
    type: QUEUE
    cpu: [{ id: cpu3c, vcpuCount: 2 }]
    scaling: { type: QUEUE_DELAY, queueDelay: 4 }
`;

let folder: string;
let file: string;
beforeEach(() => {
  folder = serviceFolder();
  file = join(folder, "endpoints.yaml");
  writeFileSync(join(folder, "echo.mjs"), "export default ({ input }) => ({ ...input, mode: process.env.MODE });");
  vi.stubEnv("SEED_TEST_TOKEN", "hidden-value");
});
afterEach(() => void vi.unstubAllEnvs());

async function startWith(text: string): Promise<{ service: Service; notices: string[] }> {
  writeFileSync(file, text);
  const notices: string[] = [];
  const onNotice = (notice: string) => void notices.push(notice);
  const { service } = await useLocalService({ dataFolder: join(folder, "data"), seed: file, onNotice });
  return { service, notices };
}
/** Applies a seed file to the resources of a store. */
function apply(text: string, resources: Resources, onProgress?: (text: string) => void): void {
  writeFileSync(file, text);
  const controllers = v2Controllers({ resources, pager: createPager(1), serverlessUrl: () => "" });
  const environmentValue = (name: string) => (name === "SEED_TEST_TOKEN" ? "hidden-value" : undefined);
  applySeed(readSeedFile(file), resources, controllers, environmentValue, onProgress);
}
const call = (service: Service, method: string, path: string, json?: object) =>
  send(method, `${service.url}/v2${path}`, { key: service.apiKey, json });
const listOf = async (service: Service, path: string, key: string): Promise<unknown> =>
  at((await call(service, "GET", path)).json, key);

describe("a seed file", () => {
  test("creates its objects, with references by name and handlers beside the file", async () => {
    const { service, notices } = await startWith(whole);
    expect(await listOf(service, "/account/secrets", "secrets")).toMatchObject([
      { name: "token", description: "of the tests" },
    ]);
    const [volume] = (await listOf(service, "/network-volumes", "networkVolumes")) as { id: string }[];
    const endpoint = await call(service, "GET", `/serverless/${service.endpointIds["echo"]}`);
    expect(endpoint.json).toMatchObject({
      name: "echo",
      image: "acme/echo:1",
      env: { MODE: "fast" },
      networkVolumes: [volume?.id],
      workers: { max: 2 },
    });
    expect(notices).toEqual([]);
  });

  test("creates an endpoint with its own container, and reports its differences", async () => {
    const { service: first } = await startWith(own);
    const path = `/serverless/${first.endpointIds["own"]}`;
    const container = { image: "acme/echo:1", args: "--fast", disk: 7, env: { MODE: "fast" }, ports: ["8080/http"] };
    expect((await call(first, "GET", path)).json).toMatchObject(container);
    expect(await listOf(first, "/templates", "templates")).toEqual([]);
    await call(first, "PATCH", path, { image: "acme/echo:2", env: { MODE: "slow" } });
    await first.stop(0);
    const { service, notices } = await startWith(own);
    expect(notices).toEqual([
      `${file}: endpoints.own.image: "acme/echo:1" in the file, "acme/echo:2" in the service; the existing object is not changed`,
      `${file}: endpoints.own.env.MODE: differs from the service; the existing object is not changed`,
    ]);
    expect((await call(service, "GET", path)).json).toMatchObject({
      ...container,
      image: "acme/echo:2",
      env: { MODE: "slow" },
    });
  });

  test("reports differences of existing objects, without values of variables, and changes none", async () => {
    const { service: first } = await startWith(whole);
    const path = `/serverless/${first.endpointIds["echo"]}`;
    await call(first, "PATCH", path, { workers: { max: 1 } });
    await first.stop(0);
    vi.stubEnv("SEED_TEST_TOKEN", "rotated-value");
    const { service, notices } = await startWith(
      `${whole.replace("MODE: fast", "MODE: slow").replace("size: 10", "size: 20")}  other:
    { image: "acme/echo:1", type: QUEUE, gpu: { pools: [AMPERE_24] }, scaling: { type: QUEUE_DELAY, queueDelay: 4 } }
`,
    );
    const differs = (path: string, how: string) => `${file}: ${path}: ${how}; the existing object is not changed`;
    expect(notices).toEqual([
      differs("secrets.token.value", "differs from the service"),
      differs("volumes.models.size", "20 in the file, 10 in the service"),
      differs("templates.base.env.MODE", "differs from the service"),
      differs("endpoints.echo.workers.max", "2 in the file, 1 in the service"),
    ]);
    expect(notices.join()).not.toMatch(/value"|fast|slow|rotated-/);
    expect(service.endpointIds["echo"]).toBe(first.endpointIds["echo"]);
    expect((await call(service, "GET", path)).json).toMatchObject({ workers: { max: 1 }, env: { MODE: "fast" } });
    expect(Object.keys(service.endpointIds)).toEqual(["echo", "other"]);
  });

  test.each([
    ["max: 2", "max: x", 'endpoints.echo.workers.max: "x" is not allowed; must be'],
    ["size: 10", "size: 5", "volumes.models.size: 5 is not allowed; must be"],
    ["EU-RO-1", "MOON-1", 'volumes.models.dataCenter: "MOON-1" is not allowed'],
    ["MODE: fast", "MODE: 1", "templates.base.env.MODE: must be"],
    ["MODE: fast", 'MODE: "a\\0b"', "templates.base.env.MODE: must not contain a null character"],
    ["AMPERE_24", "AMPERE_25", 'endpoints.echo.gpu.pools: "AMPERE_25" does not exist; must be one of'],
    [
      "template: base",
      "template: bare",
      'endpoints.echo.template: template "bare" does not exist; specify an object of the file',
    ],
    [
      "[models]",
      "[model]",
      'endpoints.echo.networkVolumes: network volume "model" does not exist; specify an object of the file',
    ],
    ["workers:", "worker:", "endpoints.echo.worker: unknown property"],
    ["size: 10", "size: 10, name: other", "volumes.models.name: unknown property; the key of an object is its name"],
    ["  models:", "  __proto__:", "volumes.__proto__: is not allowed"],
    ["type: QUEUE\n", "\n", "endpoints.echo.type: is required and must be"],
    [
      "volumes:",
      "volume:",
      "volume: unknown property; expected one of images, simulate, runtime, kubernetes, secrets, volumes, templates, endpoints",
    ],
    [
      "SEED_TEST_TOKEN",
      "SEED_TEST_TOKEN, value: abc",
      "secrets.token.value: unknown property; specify an environment variable in",
    ],
    [
      "valueFromEnv: SEED_TEST_TOKEN",
      "value: abc",
      "secrets.token.value: unknown property; specify an environment variable in valueFromEnv",
    ],
    ["valueFromEnv: SEED_TEST_TOKEN, ", "", "secrets.token.valueFromEnv: is required; specify an environment variable"],
    [
      "SEED_TEST_TOKEN",
      "SEED_TEST_ABSENT",
      'secrets.token.valueFromEnv: the environment variable "SEED_TEST_ABSENT" is not set; set it',
    ],
    ["./echo.mjs", "./absent.mjs", "does not exist; specify an existing file"],
    ["./echo.mjs", "./venv/bin/python -u worker", "venv/bin/python does not exist; specify an existing file"],
    ["templates:", "templates: [", "line "],
    ["templates:", "templates:\n  base: {}", "templates.base: occurs twice; delete or rename one"],
    ["MODE: fast", "MODE: fast, MODE: slow", "templates.base.env.MODE: occurs twice; delete or rename one"],
  ])("rejects %s replaced by %s with its path, and creates nothing", (from, to, message) => {
    rejects(whole.replace(from, to), message);
  });

  test.each([
    ["    image: acme/echo:1\n", "", "image: is required without template"],
    ["image: acme/echo:1", 'image: ""', 'image: "" is not allowed; must not be empty'],
    ["disk: 7", "disk: 0", "disk: 0 is not allowed; must be 1 or more"],
    ["8080/http", "70000/http", 'ports.0: "70000/http" is not allowed; must be <port>/http or <port>/tcp with a port'],
    ["8080/http", "8080/ftp", 'ports.0: "8080/ftp" is not allowed; must be <port>/http or <port>/tcp'],
    ["MODE: fast", "MODE: 1", "env.MODE: must be a string"],
    ["MODE: fast", "MODE: fast, MODE: slow", "env.MODE: occurs twice; delete or rename one"],
    [
      "--fast",
      "--fast\n    cmd: [--slow]",
      "args: must state the same command as entrypoint and cmd; send only one form",
    ],
    ["args: --fast", "entrypoint: python", "entrypoint: must be a list"],
    ["disk: 7", "registry: unknown", 'registry auth "unknown" does not exist'],
    ["disk: 7", "containerDiskInGb: 7", "containerDiskInGb: unknown property; expected one of"],
  ])("rejects %s replaced by %s in an endpoint with its own container", (from, to, message) => {
    rejects(own.replace(from, to), message);
    rejects(own.replace(from, to), "endpoints.own.");
  });

  // Empty for every row, because a rejected file creates nothing.
  const empty = useResources({}, afterAll);
  function rejects(text: string, message: string): void {
    let thrown: unknown;
    try {
      apply(text, empty);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(StartError);
    const [line, ...others] = String(thrown).split("\n");
    expect([line, others]).toEqual([expect.stringContaining(message), []]);
    expect(line).toContain(`${file}: `);
    const { secrets, volumes, templates, endpoints } = empty;
    for (const { list } of [secrets, volumes, templates, endpoints]) expect(list()).toEqual([]);
  }

  test.each<[string, string | Buffer, string]>([
    [
      "aliases that multiply",
      `a: &a [x, x]\n${Array.from({ length: 20 }, (_, n) => `b${n}: &b${n} [*${n ? `b${n - 1}` : "a"}, *${n ? `b${n - 1}` : "a"}]`).join("\n")}`,
      "Excessive alias count indicates a resource exhaustion attack; write repeated values without aliases",
    ],
    ["an alias of itself", "templates: &a { base: *a }", "must not nest deeper than 1000 levels"],
    ["lists in lists", `templates: ${"[".repeat(20_000)}${"]".repeat(20_000)}`, "nests too deeply; write fewer levels"],
    ["nested JSON", `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`, "nests too deeply; write fewer levels"],
    [
      "an image",
      Buffer.from("89504e470d0a1a0a0000000d49484452ff", "hex"),
      "is not text in UTF-8; specify a YAML or JSON file",
    ],
    ["null characters", 'images: { x: "a\0b" }', "must not contain a null character"],
    ["a text", "just words", "body: must be a JSON object"],
    ["a list", "- 1", "body: must be a JSON object"],
    ["a set of YAML 1.1", "!!set { templats }", "templats: unknown property"],
    ["an ordered map of YAML 1.1", "!!omap [templats: {}]", "body: must be a JSON object"],
  ])("with %s is rejected in one line that names the file", (_what, content, message) => {
    writeFileSync(file, content);
    let thrown: unknown;
    try {
      readSeedFile(file);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(StartError);
    expect(String(thrown)).toMatch(/^.*$/);
    expect(String(thrown)).toContain(`${file}: `);
    expect(String(thrown)).toContain(message);
  });

  test("must be a file, not a folder or a device", () => {
    for (const path of [folder, "/dev/zero"])
      expect(() => readSeedFile(path)).toThrow(`${path}: is not a file; specify a YAML or JSON file`);
  });

  test("must exist; otherwise no data folder is created", async () => {
    const dataFolder = join(folder, "unused");
    const seed = join(folder, "absent.yaml");
    await expect(createService({ port: 0, dataFolder, seed })).rejects.toThrow(
      `${seed}: cannot be read (ENOENT); specify an existing seed file`,
    );
    expect(existsSync(dataFolder)).toBe(false);
  });

  test("rejects a name that several objects of the service have", () => {
    const resources = useResources();
    for (const _ of [1, 2]) resources.volumes.create({ name: "models", size: 10, dataCenterId: "EU-RO-1" });
    expect(() => apply(whole, resources)).toThrow(
      `${file}: volumes.models: the service has 2 objects with this name; delete or rename all but one`,
    );
    expect(resources.templates.list()).toEqual([]);
  });

  test("with many objects lists each kind once, and reports its progress, whether or not the objects exist", () => {
    const resources = useResources();
    const section = (name: string, length: number, content: (index: number) => object): object => ({
      [name]: Object.fromEntries(Array.from({ length }, (_, index) => [`${name}-${index}`, content(index)])),
    });
    const text = JSON.stringify({
      ...section("volumes", 400, () => ({ size: 10, dataCenter: "EU-RO-1" })),
      ...section("templates", 780, () => ({ image: "acme/echo:1", serverless: true })),
      ...section("endpoints", 20, (index) => ({
        template: `templates-${index}`,
        networkVolumes: [`volumes-${index}`],
        type: "QUEUE",
        gpu: { pools: ["AMPERE_24"] },
        scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
      })),
    });
    for (const verb of ["created", "checked"]) {
      const lists: string[] = [];
      const counted = <Kind extends { list(): unknown }>(name: string, kind: Kind): Kind => ({
        ...kind,
        list: (...options: []) => {
          lists.push(name);
          return kind.list(...options);
        },
      });
      const progress: string[] = [];
      apply(
        text,
        {
          ...resources,
          secrets: counted("secrets", resources.secrets),
          volumes: counted("volumes", resources.volumes),
          templates: counted("templates", resources.templates),
          endpoints: counted("endpoints", resources.endpoints),
        },
        (line) => progress.push(line),
      );
      expect(lists).toEqual(["secrets", "volumes", "templates", "endpoints"]);
      expect(progress).toEqual([`${verb} 1000 of 1200 objects`]);
      expect(resources.endpoints.list()).toHaveLength(20);
    }
  });
});
