import { afterAll, beforeAll, expect, it } from "vitest";
import { type ConnectProxy, startConnectProxy } from "../support/connect-proxy";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Run, Stack } from "../support/pulumi";
import { pluginWay } from "./support/way";

/** Two services: one on this machine, and one at another host, which a proxy leads to. */
let local: EngineService;
let remote: EngineService;
let proxy: ConnectProxy;
let stack: Stack;
beforeAll(async () => {
  local = await useEngineService();
  remote = await useEngineService();
  proxy = await startConnectProxy(remote.proxy.origin);
  stack = await pluginWay.createStack({ HTTP_PROXY: proxy.origin, NO_PROXY: "127.0.0.1" });
  // The two providers that a program can have: the default one, and one of its own.
  await stack.program(`
    const pulumi = require("@pulumi/pulumi");
    const { NetworkVolume, Provider, Template } = require("${pluginWay.module}");
    const config = new pulumi.Config("serverless-compute");
    const own = new Provider("own", { url: config.require("url"), apiKey: config.requireSecret("apiKey") });
    new Template("chat", { imageName: "acme/echo:1" });
    new NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1" }, { provider: own });
  `);
});
afterAll(async () => {
  await stack.remove();
  await proxy.close();
});

/** Points the stack's config at a service, and deploys. */
async function deployTo(url: string, { service }: EngineService): Promise<Run> {
  for (const setting of [
    ["serverless-compute:url", url],
    ["--secret", "serverless-compute:apiKey", service.apiKey],
  ]) {
    const { code, output } = await stack.command(["config", "set", ...setting]);
    expect(code, output).toBe(0);
  }
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  return up;
}
const counts = async ({ holdings }: EngineService): Promise<number[]> => {
  const { templates, volumes } = await holdings();
  return [templates.length, volumes.length];
};
const same = { "Template chat": ["same"], "NetworkVolume models": ["same"] };

it("another port, and another name of this machine, replace nothing", async () => {
  await deployTo(local.proxy.origin, local);
  expect((await deployTo(local.service.serverlessUrl, local)).operations).toMatchObject(same);
  const named = local.service.serverlessUrl.replace("127.0.0.1", "localhost");
  expect((await deployTo(named, local)).operations).toMatchObject(same);
  await deployTo(local.proxy.origin, local);
  expect(await counts(local)).toEqual([1, 1]);
});

it("another host replaces the resources: made there, deleted where they were", async () => {
  const up = await deployTo("http://service.test:8080", remote);
  expect(up.operations["Template chat"]).toContain("create-replacement");
  expect(up.operations["NetworkVolume models"]).toContain("create-replacement");
  expect(await counts(local)).toEqual([0, 0]);
  expect(await counts(remote)).toEqual([1, 1]);
});

it("another port of that host replaces nothing, and a destroy deletes there", async () => {
  expect((await deployTo("http://service.test:9090", remote)).operations).toMatchObject(same);
  const destroy = await stack.destroy();
  expect(destroy.code, destroy.output).toBe(0);
  expect(await counts(remote)).toEqual([0, 0]);
});
