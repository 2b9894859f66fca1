import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import { type PluginProcess, startPlugin } from "../plugin/support/plugin-process";
import { pluginFolder, pluginWay } from "../plugin/support/way";
import { scratchFolder } from "../support/folders";
import { pluginVersion } from "../support/pulumi";
import { describeProxies } from "../ways/proxies";

const folder = scratchFolder(afterAll, inject("packed"));
const started = new Set<PluginProcess>();
afterEach(() => {
  for (const { child } of started) child.kill("SIGKILL");
  started.clear();
});

async function start(options: { env?: Record<string, string>; cwd?: string } = {}): Promise<PluginProcess> {
  const plugin = await startPlugin(join(pluginFolder(), "pulumi-resource-serverless-compute"), options);
  started.add(plugin);
  return plugin;
}

it("requires no Node: it starts with an empty PATH, prints only its port, and ends when the engine cancels it", async () => {
  const { child, output, call } = await start({ env: { PATH: "" } });
  expect((await call("GetPluginInfo")).toString()).toContain(pluginVersion);
  expect((await call("Configure")).length).toBeGreaterThan(0);
  child.kill("SIGINT");
  const [code, signal] = await once(child, "close");
  expect({ code, signal }).toEqual({ code: null, signal: "SIGINT" });
  expect(output()).toMatch(/^\d+\n$/);
});

it("reads nothing from its working folder: neither .env nor bunfig.toml nor a preload", async () => {
  const preload = join(folder, "preload.js");
  await writeFile(preload, "console.log('preloaded')");
  await writeFile(join(folder, "bunfig.toml"), `preload = [${JSON.stringify(preload)}]\n`);
  await writeFile(join(folder, ".env"), "SERVERLESS_COMPUTE_DIALECT=of-the-folder\n");
  const { output, call } = await start({ cwd: folder });
  expect((await call("CheckConfig")).toString()).not.toContain("of-the-folder");
  expect(output()).toMatch(/^\d+\n$/);
  // The same setting in the environment is visible, so the check above can fail.
  const configured = await start({ env: { SERVERLESS_COMPUTE_DIALECT: "of-the-folder" } });
  expect((await configured.call("CheckConfig")).toString()).toContain("of-the-folder");
});

it("never behaves as Bun's command line, even with BUN variables in the environment", async () => {
  const { output, call } = await start({ env: { BUN_BE_BUN: "1" } });
  expect(output()).toMatch(/^\d+\n$/);
  expect((await call("GetPluginInfo")).toString()).toContain(pluginVersion);
});

describe("a service behind a proxy", () => describeProxies(pluginWay));
