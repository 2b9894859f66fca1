import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, expect, inject, it } from "vitest";
import { run } from "../../scripts/child.mjs";

/** A copy of the installed package, so that its caches are this file's own. */
let folder: string;
const started = new Set<ChildProcessByStdio<null, Readable, null>>();
beforeAll(async () => {
  folder = await mkdtemp(join(inject("packed"), "start-"));
  await cp(join(inject("packed"), "node_modules", "pulumi-serverless-compute"), folder, { recursive: true });
});
afterEach(() => {
  for (const child of started) child.kill("SIGKILL");
  started.clear();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts the plugin as the engine does, up to the first thing it prints. */
async function start() {
  const launcher = join(folder, "bin", "pulumi-resource-serverless-compute");
  const child = spawn(launcher, ["127.0.0.1:9"], { stdio: ["ignore", "pipe", "inherit"] });
  started.add(child);
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  await once(child.stdout, "data");
  return { child, printed: () => printed };
}

const caches = async (): Promise<string[]> =>
  (await readdir(join(folder, "dist"))).filter((name) => name.endsWith(".cache"));

it("comes with a code cache for the Node that it was built with", async () => {
  expect(await caches()).toEqual([expect.stringContaining(process.version)]);
});

it("prints the port and nothing else, and ends when the engine says so", async () => {
  const { child, printed } = await start();
  expect(printed()).toMatch(/^\d+\n$/);
  const asked = Date.now();
  child.kill("SIGINT");
  await once(child, "close");
  expect(Date.now() - asked).toBeLessThan(1000);
  expect(printed()).toMatch(/^\d+\n$/);
});

it.runIf(process.platform === "linux")("needs less than 70 MB", async () => {
  const { child } = await start();
  const status = await readFile(`/proc/${child.pid}/status`, "utf8");
  expect(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024).toBeLessThan(70);
});

it("starts without a cache, makes one, and makes it again when it is broken", async () => {
  const [name = ""] = await caches();
  const path = join(folder, "dist", name);
  for (const spoil of [() => rm(path), () => writeFile(path, "no cache")]) {
    await spoil();
    const { printed } = await start();
    expect(printed()).toMatch(/^\d+\n$/);
    await expect
      .poll(async () => (await readFile(path).catch(() => "")).length, { timeout: 10_000 })
      .toBeGreaterThan(1e5);
  }
});

it("has a schema that Pulumi finds no fault with, and hands it out", async () => {
  const { command } = inject("cli");
  const options = { timeout: 60_000, env: { ...process.env, PULUMI_HOME: folder, PULUMI_SKIP_UPDATE_CHECK: "true" } };
  const launcher = join(folder, "bin", "pulumi-resource-serverless-compute");
  const told = await run(command, ["package", "get-schema", launcher], options);
  expect(told.code, told.stderr).toBe(0);
  const path = join(folder, "schema.json");
  await writeFile(path, told.stdout);
  const checked = await run(command, ["schema", "check", path], options);
  expect(checked.stdout + checked.stderr).toBe("");
  expect(checked.code).toBe(0);
  const committed = await readFile(new URL("../../schema.json", import.meta.url), "utf8");
  // The engine leaves empty lists out.
  const full = (_key: string, value: unknown) => (Array.isArray(value) && value.length === 0 ? undefined : value);
  expect(JSON.parse(told.stdout, full)).toMatchObject(Object(JSON.parse(committed, full)));
});
