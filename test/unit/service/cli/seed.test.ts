import { readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSeedFile } from "../../../../service/seed/seed-file";
import { splitCommandLine } from "../../../../service/workers/command-line";
import { at } from "../../../support/raw-http";
import { runLine, startService, useFolder } from "./command";

const folder = useFolder();
const emptyFolder = () => mkdtemp(join(folder, "project-"));

test("init in an empty folder, start --seed and run lead to a completed job, with the key of --api-key-file", async () => {
  const project = await emptyFolder();
  const { code, out } = await runLine("init", join(project, "handler.mjs"));
  expect(code).toBe(0);
  const seed = join(project, "endpoints.yaml");
  expect(out).toContain(`npx --no serverless-compute-local start --seed ${seed}`);

  const keyFile = join(project, "key");
  await writeFile(keyFile, "a-fixed-key-of-tests\n");
  await chmod(keyFile, 0o600);
  const data = join(project, "data");
  const service = await startService(data, "--seed", seed, "--api-key-file", keyFile, "--runtime", "none");
  await rm(keyFile);
  expect(service.apiKey).toBe("a-fixed-key-of-tests");
  const line = JSON.parse(await service.firstLine());
  expect(Object.keys(line.endpointIds)).toEqual(["echo"]);
  const job = await runLine("run", "echo", '{"text":"hello"}', "--sync", "--data", data);
  expect(at(JSON.parse(job.out), "output")).toEqual({ said: "hello" });
  service.child.kill("SIGTERM");
  const { stderr } = await service.ended;
  expect(stderr).not.toContain(service.apiKey);
});

test("every commented property of the file that init writes is valid", async () => {
  const project = await emptyFolder();
  await runLine("init", join(project, "handler.mjs"));
  const seed = join(project, "endpoints.yaml");
  const text = await readFile(seed, "utf8");
  await writeFile(
    seed,
    text.replaceAll(/^#(?! )(.*)$|^#( {2,}.*)$/gm, "$1$2").replace("HF_TOKEN", "TSX_TSCONFIG_PATH"),
  );
  expect(readFileSync(seed, "utf8")).not.toMatch(/^# {2,}|^#\w/m);
  const service = await startService(join(project, "data"), "--seed", seed, "--runtime", "none");
  service.child.kill("SIGTERM");
  expect(await service.ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Stopping: [^\n]+\n$/) });
});

test("init overwrites nothing and names the next step", async () => {
  const project = await emptyFolder();
  const handler = join(project, "handler.mjs");
  await writeFile(handler, "export default () => 1;\n");
  expect((await runLine("init", handler)).out).toMatch(/^Created \S+endpoints\.yaml\. Start the service:/);
  expect(await readFile(handler, "utf8")).toBe("export default () => 1;\n");
  const seed = join(project, "endpoints.yaml");
  await writeFile(seed, "# mine\n");
  expect(await runLine("init", handler)).toEqual({
    code: 1,
    out: "",
    err: `serverless-compute-local: ${seed}: already exists; edit it, or choose a handler in another folder`,
  });
  expect(await readFile(seed, "utf8")).toBe("# mine\n");
  await mkdir(join(project, "other"));
  expect((await runLine("init", join(project, "other/handler.py"))).err).toMatch(
    /handler\.py: does not exist; specify an existing handler, or a new one that ends in \.mjs$/,
  );
  await mkdir(join(project, "src/handler.mjs"), { recursive: true });
  expect((await runLine("init", join(project, "src/handler.mjs"))).err).toMatch(
    /src\/handler\.mjs: is not a file; specify a handler file$/,
  );
  expect(await readdir(join(project, "src"))).toEqual(["handler.mjs"]);
});

test.each([
  ["venv", "./venv/bin/python"],
  [".venv", "./.venv/bin/python"],
  [undefined, "python3"],
])(
  "init of a Python handler next to the virtual environment %s runs %s, from any folder",
  async (environment, python) => {
    const project = await emptyFolder();
    await writeFile(join(project, "handler.py"), "");
    if (environment !== undefined) {
      await mkdir(join(project, environment, "bin"), { recursive: true });
      await symlink("/usr/bin/env", join(project, environment, "bin/python"));
    }
    await runLine("init", join(project, "handler.py"));
    const seed = join(project, "endpoints.yaml");
    expect(await readFile(seed, "utf8")).toContain(`  acme/echo:1: ${python} -u ./handler.py\n`);
    // The tests run in the repository's folder, which has no such environment.
    const { images } = readSeedFile(seed);
    const program = environment === undefined ? python : join(project, environment, "bin/python");
    expect(splitCommandLine(images?.["acme/echo:1"] ?? "")).toEqual([program, "-u", join(project, "handler.py")]);
  },
);

test.each([
  "my handler.mjs",
  "two\nlines.mjs",
  "it's $HOME.mjs",
  "- a: b.mjs",
  "a #b.mjs",
  'say "x".mjs',
  "a\\b.mjs",
  "my handler.py",
])(
  "init of a handler with the name %s writes a valid seed file, and prints commands that a shell splits into words",
  async (name) => {
    const project = join(await emptyFolder(), "it's mine");
    await mkdir(project);
    const handler = join(project, name);
    await writeFile(handler, "");
    const { out } = await runLine("init", handler);
    const seed = join(project, "endpoints.yaml");
    const command = readSeedFile(seed).images?.["acme/echo:1"] ?? "";
    expect(splitCommandLine(command).at(-1)).toBe(handler);
    const start = out.split("\n").find((line) => line.includes("--seed")) ?? "";
    expect(splitCommandLine(start).slice(4)).toEqual(["--seed", seed, "--watch"]);
  },
);

test("start fails with the next step for an unusable key file", async () => {
  const project = await emptyFolder();
  const start = async (...flags: string[]) => {
    const { code, err } = await runLine("start", "--port", "0", "--data", join(project, "data"), ...flags);
    expect(code).toBe(1);
    return err;
  };
  const key = join(project, "short-key");
  expect(await start("--api-key-file", key)).toMatch(
    /--api-key-file \S+: cannot be read \(ENOENT\); specify an existing/,
  );
  await writeFile(key, "short");
  expect(await start("--api-key-file", key)).toMatch(/short-key: does not contain an API key; write 16 or more/);
});
