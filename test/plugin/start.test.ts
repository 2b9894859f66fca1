import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, credentials, status } from "@grpc/grpc-js";
import { afterAll, afterEach, beforeAll, expect, inject, it } from "vitest";
import { run } from "../../scripts/child.mjs";
import { scratchFolder } from "../support/folders";
import { describeUnsupportedNode } from "../ways/unsupported-node";
import { type PluginProcess, startPlugin } from "./support/plugin-process";
import { pluginWay } from "./support/way";

describeUnsupportedNode(pluginWay);

/** A copy of the installed package whose files the tests change. */
const folder = scratchFolder(afterAll, inject("packed"));
const started = new Set<PluginProcess>();
beforeAll(async () => {
  await cp(join(inject("packed"), "node_modules", "pulumi-serverless-compute"), folder, { recursive: true });
});
afterEach(() => {
  for (const { child } of started) child.kill("SIGKILL");
  started.clear();
});

async function start(): Promise<PluginProcess> {
  const plugin = await startPlugin(join(folder, "bin", "pulumi-resource-serverless-compute"));
  started.add(plugin);
  return plugin;
}

// Using all of zod (`z.core` as a value) or graphql adds a fifth of code that every command would load.
it.each([
  ["deployment.js", 300_000],
  ["deployment-clients.js", 380_000],
])("%s loads only the code of its calls: less than %i bytes", async (bundle, bytes) => {
  expect((await stat(join(folder, "dist", bundle))).size).toBeLessThan(bytes);
});

it("prints only the port, and ends when the engine cancels it", async () => {
  const { child, output } = await start();
  expect(output()).toMatch(/^\d+\n$/);
  child.kill("SIGINT");
  await once(child, "close");
  expect(output()).toMatch(/^\d+\n$/);
});

it("responds as soon as the port is printed", async () => {
  const { call } = await start();
  const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  expect((await call("GetPluginInfo")).toString()).toContain(version);
});

it("loads no resources in a process that only serves the schema and is killed", async () => {
  const path = join(folder, "dist", "deployment.js");
  const text = await readFile(path, "utf8");
  try {
    await rm(path);
    const { call } = await start();
    await expect(call("")).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
    await expect(call("GetMapping")).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
    expect((await call("GetSchema")).toString()).toContain('"serverless-compute:index:Template"');
    expect((await call("GetPluginInfo")).length).toBeGreaterThan(0);
  } finally {
    await writeFile(path, text);
  }
});

it("reports a damaged installation in the response to every call, and ends with the connection", async () => {
  const path = join(folder, "dist", "deployment.js");
  const text = await readFile(path, "utf8");
  try {
    await writeFile(path, "throw new Error('half a file')");
    const { child, call, output, errorOutput } = await start();
    // All calls share one connection, as in the engine.
    const engine = new Client(`127.0.0.1:${Number(output())}`, credentials.createInsecure());
    await new Promise((resolve) => engine.waitForReady(Date.now() + 60_000, resolve));
    const message = `pulumi-serverless-compute: ${path} cannot be loaded (half a file); reinstall the package`;
    for (const method of ["Configure", "Check"]) await expect(call(method)).rejects.toMatchObject({ details: message });
    // The engine regards a plugin that ends without a Cancel as crashed.
    expect(await call("Cancel")).toHaveLength(0);
    const exit = once(child, "close");
    engine.close();
    await exit;
    expect(errorOutput()).toBe("");
  } finally {
    await writeFile(path, text);
  }
});

/** Memory limit in MB. A bare Node 22 uses 4 MB more than Node 20, and its compilers use more. */
const allowed = process.versions.node.startsWith("20.") ? 70 : 77;

it.runIf(existsSync("/proc/self"))(`uses less than ${allowed} MB`, async () => {
  const { call, pid } = await start();
  // Loads everything that a deployment without requests requires.
  await call("Configure");
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  expect(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024).toBeLessThan(allowed);
});

it("returns a schema that Pulumi accepts", async () => {
  const { command } = inject("cli");
  const options = { timeout: 60_000, env: { ...process.env, PULUMI_HOME: folder, PULUMI_SKIP_UPDATE_CHECK: "true" } };
  const launcher = join(folder, "bin", "pulumi-resource-serverless-compute");
  const messages = await run(command, ["package", "get-schema", launcher], options);
  expect(messages.code, messages.stderr).toBe(0);
  const path = join(folder, "schema.json");
  await writeFile(path, messages.stdout);
  const checked = await run(command, ["schema", "check", path], options);
  expect(checked.stdout + checked.stderr).toBe("");
  expect(checked.code).toBe(0);
  const committed = await readFile(new URL("../../schema.json", import.meta.url), "utf8");
  // The engine omits empty lists.
  const full = (_key: string, value: unknown) => (Array.isArray(value) && value.length === 0 ? undefined : value);
  expect(JSON.parse(messages.stdout, full)).toMatchObject(Object(JSON.parse(committed, full)));
});
