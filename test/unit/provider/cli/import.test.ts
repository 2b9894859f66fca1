import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ImportFlags, importAccount } from "../../../../provider/cli/import";
import type { Properties } from "../../../../provider/engine/values";
import { kinds } from "../../../../provider/resources";
import { scratchFolder } from "../../../support/folders";
import { useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";
import { send, stringAt } from "../../../support/raw-http";
import { registerSecret } from "../../../support/secret-scan";
import { command, environmentOf, recordingTerminal } from "./terminal";

const bench = await useLifecycleBench();
const emptyBench = await useLifecycleBench();
const folder = scratchFolder(afterAll);
const secrets = { value: "sesame-88d1", password: "whisper-88d2" };

beforeAll(async () => {
  for (const value of Object.values(secrets)) registerSecret(value, "a secret of the account");
  await bench.graphql(`mutation { secretCreate(input: { name: "token", value: "${secrets.value}" }) { id } }`);
  const containerRegistryAuthId = await bench.create("/containerregistryauth", {
    name: "registry",
    username: "me",
    password: secrets.password,
  });
  for (const name of ["models", "models"])
    await bench.create("/networkvolumes", { name, size: 10, dataCenterId: "EU-RO-1" });
  const image = { imageName: "acme/echo:1", isServerless: true, containerRegistryAuthId };
  const templateId = await bench.create("/templates", {
    ...image,
    name: "chat",
    env: { TOKEN: "{{ RUNPOD_SECRET_token }}" },
  });
  await bench.create("/endpoints", { name: "chat", templateId, workersMax: 1 });
});

let count = 0;
async function run(flags: Partial<ImportFlags> & { dialect?: string } = {}, target = bench) {
  const { dialect = "v2", out = join(folder, `out-${++count}`), ...otherFlags } = flags;
  const { io, printed } = recordingTerminal();
  const code = await importAccount({ out, language: "typescript", ...otherFlags }, io, environmentOf(target, dialect));
  return { code, out, stdout: printed().out, stderr: printed().err };
}
const filesIn = (path: string): Promise<string[]> => readdir(path).then((names) => names.sort());
/** Temporary folders that failed imports may have left behind. */
const temporaryFolders = async (): Promise<string[]> => (await readdir(folder)).filter((name) => name.startsWith("."));

describe.each(["v1", "v2"])("an import of an account in dialect %s", (dialect) => {
  it("writes a program and the import file with each object once, and only reads", async () => {
    bench.drainRequests();
    const { code, out, stdout, stderr } = await run({ dialect });
    expect(code, stdout).toBe(0);
    const requests = bench.drainRequests();
    expect(requests.length).toBeLessThanOrEqual(6);
    expect(requests.filter((line) => !/^GET |^POST \/graphql$/.test(line))).toEqual([]);
    expect(await filesIn(out)).toEqual(["Pulumi.yaml", "import.json", "index.ts", "package.json", "tsconfig.json"]);
    const { resources } = JSON.parse(await readFile(join(out, "import.json"), "utf8"));
    expect(resources.map(({ type, name }: { type: string; name: string }) => `${type} ${name}`)).toEqual([
      "serverless-compute:index:Secret token-secret",
      "serverless-compute:index:NetworkVolume models-volume",
      "serverless-compute:index:NetworkVolume models-volume-2",
      "serverless-compute:index:ContainerRegistryAuth registry-credentials",
      "serverless-compute:index:Template chat-template",
      "serverless-compute:index:ServerlessEndpoint chat-endpoint",
    ]);
    const program = await readFile(join(out, "index.ts"), "utf8");
    for (const text of ["templateId: chatTemplate.id", "TOKEN: tokenSecret.reference", "registryCredentials.id"])
      expect(program).toContain(text);
    for (const text of [program, stdout, stderr])
      for (const value of [...Object.values(secrets), bench.addresses.apiKey]) expect(text).not.toContain(value);
    expect(stdout).toContain(
      `Next:\n  cd ${out}\n  npm install   # requires the SDK: run npm run sdks -- <this folder>/sdks nodejs `,
    );
    expect(stdout.match(/(?<=pulumi config set serverless-compute:).*$/gm)).toEqual([
      `dialect ${dialect}`,
      `url ${bench.proxy.origin}`,
    ]);
    const keys = ["tokenSecretValue", "registryCredentialsUsername", "registryCredentialsPassword"];
    expect(stdout.match(/(?<=pulumi config set --secret )\S+$/gm)).toEqual(keys);
    for (const key of keys) expect(program).toContain(`requireSecret("${key}")`);
    expect(stderr).toContain("NetworkVolume: 2 in the account");
  });

  it("writes a program with the same references in YAML", async () => {
    const { out } = await run({ dialect, language: "yaml" });
    expect(await filesIn(out)).toEqual(["Pulumi.yaml", "import.json"]);
    expect(await readFile(join(out, "Pulumi.yaml"), "utf8")).toMatch(/templateId: \$\{chat-template\.id\}/);
  });
});

it("imports endpoints that this provider created with REST v2, with a reference to their original template", async () => {
  const context = bench.context({}, "v2");
  const create = async (kind: "Template" | "ServerlessEndpoint", input: Properties): Promise<string> => {
    const { inputs, failures } = kinds[kind].check({}, input, naming());
    expect(failures).toEqual([]);
    return (await kinds[kind].create(inputs, context)).id;
  };
  const templateId = await create("Template", { name: "own", imageName: "acme/own:1" });
  const creations = Array.from({ length: 3 }, (_, index) =>
    create("ServerlessEndpoint", { name: `own-${index}`, templateId, workersMax: 0 }),
  );
  const ids = await Promise.all(creations);
  const { out } = await run({ filter: "own*" });
  const program = await readFile(join(out, "index.ts"), "utf8");
  expect(program.match(/templateId: ownTemplate\.id/g)).toHaveLength(ids.length);
  expect(program).not.toContain("SERVERLESS_COMPUTE_TEMPLATE_ID");
  for (const id of ids) await kinds.ServerlessEndpoint.delete(id, {}, context);
  await kinds.Template.delete(templateId, {}, context);
});

it("prints a report as JSON", async () => {
  const { stdout, out } = await run({ json: true, filter: "t*n" });
  expect(JSON.parse(stdout)).toEqual({
    folder: out,
    language: "typescript",
    skipped: [],
    noCounterpart: [],
    settings: [
      { name: "dialect", value: "v2" },
      { name: "url", value: bench.proxy.origin },
    ],
    config: ["tokenSecretValue"],
    resources: [{ type: "serverless-compute:index:Secret", name: "token-secret", id: expect.any(String) }],
  });
});

it("filters by name, and writes the ids of excluded objects", async () => {
  const { out } = await run({ filter: "ch?t" });
  const { resources } = JSON.parse(await readFile(join(out, "import.json"), "utf8"));
  expect(resources).toHaveLength(2);
  const program = await readFile(join(out, "index.ts"), "utf8");
  expect(program).toMatch(/containerRegistryAuthId: "\w+"/);
  expect(program).toContain('TOKEN: "{{ RUNPOD_SECRET_token }}"');
  await expect(run({ filter: "[chat]" })).rejects.toThrow('--filter: no object of the account matches "[chat]"');
});

it("imports an endpoint without a template with its own container", async () => {
  const { apiKey: key } = bench.addresses;
  const json = {
    name: "bare",
    type: "QUEUE",
    image: "acme/bare:1",
    disk: 5,
    env: { MODE: "fast" },
    cmd: ["python", "a b.py"],
    gpu: { pools: ["ADA_24"], count: 1 },
    workers: { max: 0 },
    scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
  };
  const create = await send("POST", `${bench.proxy.origin}/v2/serverless`, { key, json });
  const id = stringAt(create, "id");
  const { stdout, out } = await run();
  expect(stdout).not.toContain("Not imported");
  expect(await readFile(join(out, "import.json"), "utf8")).toContain(id);
  const program = await readFile(join(out, "index.ts"), "utf8");
  const bare = program.slice(program.indexOf('name: "bare"'));
  for (const line of ['imageName: "acme/bare:1"', "containerDiskInGb: 5", 'MODE: "fast"', "dockerStartCmd:"])
    expect(bare).toContain(line);
  await bench.rest("DELETE", `/endpoints/${id}`);
});

it("uses the plugin of the nearest folder that has the package", async () => {
  const pathIn = async (out: string): Promise<string | undefined> =>
    /^ +path: (.*)$/m.exec(await readFile(join((await run({ out })).out, "Pulumi.yaml"), "utf8"))?.[1];
  const installed = "node_modules/pulumi-serverless-compute/bin";
  expect(await pathIn(join(folder, "alone"))).toBe(installed);
  await mkdir(join(folder, "shop", installed), { recursive: true });
  expect(await pathIn(join(folder, "shop", "accounts", "main"))).toBe(`../../${installed}`);
});

describe("nothing is written", () => {
  it.each([
    ["into a folder with content", (path: string) => mkdir(join(path, "sub"), { recursive: true }), "is not empty"],
    ["over a file", (path: string) => writeFile(path, "mine"), "is not a folder"],
  ])("%s", async (_, prepare, message) => {
    const out = join(folder, `taken-${++count}`);
    await prepare(out);
    bench.drainRequests();
    await expect(run({ out })).rejects.toThrow(`${out}: ${message}`);
    expect(bench.drainRequests()).toEqual([]);
  });

  it.each([
    ["in /proc", "/proc/absent/program"],
    ["below a file", join("file", "program")],
    ["below a dangling link", join("dangling", "program")],
    ["with a name of 256 characters", "n".repeat(256)],
  ])("into a folder %s", async (_, name) => {
    await rm(join(folder, "dangling"), { force: true });
    await writeFile(join(folder, "file"), "");
    await symlink(join(folder, "absent", "target"), join(folder, "dangling"));
    const out = resolve(folder, name);
    await expect(run({ out })).rejects.toThrow(`${out}: `);
    expect(await temporaryFolders()).toEqual([]);
  });

  it("if the key lacks a permission; a second run succeeds", async () => {
    const out = join(folder, "again");
    bench.proxy.inject({ method: "GET", path: /templates/ }, { kind: "status", status: 403 });
    await expect(run({ out })).rejects.toThrow("Template objects: the API key is valid but lacks a permission");
    await expect(readdir(out)).rejects.toThrow("ENOENT");
    await mkdir(out);
    expect((await run({ out })).code).toBe(0);
    expect(await temporaryFolders()).toEqual([]);
  });

  it("if the key is wrong; the message names the variable that contains it", async () => {
    const wrong = { ...bench, addresses: { ...bench.addresses, apiKey: "wrong-key" } };
    const out = join(folder, "wrong-key");
    await expect(run({ out }, wrong)).rejects.toThrow(
      `Secret objects: ${bench.proxy.origin} rejected the API key, or the key lacks permission. ` +
        'The key comes from SERVERLESS_COMPUTE_API_KEY; the local service prints its key with "npx --no serverless-compute-local key".',
    );
    await expect(readdir(out)).rejects.toThrow("ENOENT");
  });

  it("for an account without objects", async () => {
    const out = join(folder, "empty");
    await expect(run({ out }, emptyBench)).rejects.toThrow("the account has no objects to import");
    await expect(readdir(out)).rejects.toThrow("ENOENT");
  });
});

it("requires --out, and accepts the listed languages only", async () => {
  expect(await command(["import"])).toMatchObject({ code: 2, err: expect.stringContaining("--out <dir>") });
  const { code, err } = await command(["import", "--out", "x", "--language", "java"]);
  expect(code).toBe(2);
  expect(err).toContain("Allowed choices are typescript, yaml, python, go");
});
