import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, onTestFinished, type TestContext, test } from "vitest";
import { run } from "../../scripts/child.mjs";
import { parsePage } from "../../scripts/docs/pages.mjs";
import { versions } from "../sdk/versions";
import { useCrowdedService } from "../support/engine-service";
import { scratchFolder } from "../support/folders";
import { createStack, type Stack } from "../support/pulumi";
import { containersOf, usePythonImage, useTestEngine } from "./rig";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = "examples/docker/README.md";
const fileOf = (name: string): Promise<string> => readFile(join(root, "examples/docker", name), "utf8");

/** The lines of the page's commands that the test runs, by block. */
async function commandBlocks(): Promise<string[][]> {
  const { blocks } = parsePage(page, await readFile(join(root, page), "utf8"));
  const ours = blocks.filter(({ mark }) => mark?.kind === "run" && mark.by === "test/docker/example.test.ts");
  return ours.map(({ text }) => text.trim().split("\n"));
}

/** The Dockerfile with this machine's Python and SDK instead of the two lines that fetch them. */
async function dockerfileOn(base: string): Promise<string> {
  const [from = "", install, ...rest] = (await fileOf("Dockerfile")).trim().split("\n");
  expect(from).toMatch(/^FROM python:3\.\d+-slim$/);
  expect(install, "the version of the SDK").toBe(`RUN pip install --no-cache-dir runpod==${versions.pythonSdk}`);
  return [`FROM ${base}`, ...rest].join("\n");
}

/** The folder of the example, and `build`, which runs its `docker build` for a tag of the page. */
async function useExample(context: TestContext) {
  const { host, client } = useTestEngine(context);
  const base = usePythonImage(context);
  const folder = scratchFolder();
  await cp(join(root, "examples/docker/handler.py"), join(folder, "handler.py"));
  await writeFile(join(folder, "Dockerfile"), await dockerfileOn(base));
  // The container engine may be shared with the user, so image names of the page are replaced.
  const imageOf = (tag: string): string => `serverless-compute-test/${process.pid}-${tag}`;
  async function build(tag: string): Promise<void> {
    const words = ["--host", host, "build", "-t", imageOf(tag), "."];
    const built = await run("docker", words, { cwd: folder, env: { ...process.env, DOCKER_BUILDKIT: "0" } });
    expect(built.code, built.stderr).toBe(0);
    onTestFinished(
      async () => void (await client.call("DELETE", `/images/${imageOf(tag)}`, { query: { force: "1" } })),
    );
  }
  return { build, imageOf, client };
}

async function useStack(environment: Record<string, string>): Promise<Stack> {
  const stack = await createStack(environment);
  onTestFinished(() => stack.remove());
  const module = ts.ModuleKind.CommonJS;
  const text = await fileOf("index.ts");
  await stack.writeProgram(ts.transpileModule(text, { compilerOptions: { module } }).outputText);
  return stack;
}

test("the commands of the page build the image, deploy it and print its container's output", async (context) => {
  const { build, imageOf, client } = await useExample(context);
  const [first = [], second = []] = await commandBlocks();
  const service = await useCrowdedService();
  const stack = await useStack(service.environment);
  await stack.command(["config", "set", "image", imageOf("greeter:1")]);
  let shown = "";
  async function follow(line: string): Promise<void> {
    const [, tag] = /^docker build -t (\S+) \.$/.exec(line) ?? [];
    if (tag !== undefined) return build(tag);
    const [, setTo] = /^pulumi config set image (\S+)$/.exec(line) ?? [];
    const words = setTo ? ["config", "set", "image", imageOf(setTo)] : line.split(" ").slice(1);
    const done = line === "pulumi up --yes" ? await stack.up() : await stack.command(words);
    expect(done.code, `${line}\n${done.output}`).toBe(0);
    shown = done.output;
  }
  // The test already provides the service, its environment and the stack.
  const input = /^(npx --no serverless-compute-local start|export SERVERLESS_COMPUTE_API_KEY=|pulumi stack init)/;
  expect(first.filter((line) => input.test(line))).toHaveLength(3);
  for (const line of first.filter((command) => !input.test(command))) await follow(line);
  expect(JSON.parse(shown)).toEqual({ text: "Hello, world!" });
  expect(await readFile(join(root, page), "utf8")).toContain(`prints \`${JSON.stringify(JSON.parse(shown))}\``);

  for (const line of second) await follow(line);
  expect(shown).toMatch(/JobInvoke greeter-answers updated/);
  await expect
    .poll(async () => (await containersOf(client, service.dataFolder)).map(({ Image }) => Image))
    .toEqual([imageOf("greeter:2")]);
  for (const args of [
    ["preview", "--expect-no-changes"],
    ["refresh", "--yes", "--expect-no-changes"],
  ]) {
    const { code, output } = await stack.command(args);
    expect(code, output).toBe(0);
  }
  expect((await stack.destroy()).code).toBe(0);
  expect(service.retiredRequests()).toEqual([]);
}, 300_000);

test("the same program previews with the settings of the hosted service and deploys in its dialect to a local service", async (context) => {
  const { build, imageOf } = await useExample(context);
  await build("greeter:1");
  const { service } = await useCrowdedService();
  const stack = await useStack({});
  const settings = { image: imageOf("greeter:1"), "serverless-compute:target": "hosted" };
  for (const [name, value] of Object.entries(settings)) await stack.command(["config", "set", name, value]);
  await stack.command(["config", "set", "--secret", "serverless-compute:apiKey", service.apiKey]);
  const preview = await stack.preview();
  expect(preview.code, preview.output).toBe(0);

  // Local addresses with the dialect of the target, so that no request reaches the hosted service.
  await stack.command(["config", "rm", "serverless-compute:target"]);
  const { graphqlUrl, serverlessUrl } = service;
  const localSettings = { dialect: "v2", baseUrl: `${serverlessUrl}/v2`, graphqlUrl, serverlessUrl };
  for (const [name, value] of Object.entries(localSettings))
    await stack.command(["config", "set", `serverless-compute:${name}`, value]);
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  const response = await stack.command(["stack", "output", "answer"]);
  expect(JSON.parse(response.output)).toEqual({ text: "Hello, world!" });
  expect((await stack.destroy()).code).toBe(0);
}, 300_000);
