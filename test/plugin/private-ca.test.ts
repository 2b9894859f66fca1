import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type EngineService, useEngineService } from "../support/engine-service";
import { scratchFolder } from "../support/folders";
import type { Stack } from "../support/pulumi";
import { startTlsProxy, type TlsProxy } from "../support/tls-proxy";
import { pluginWay } from "./support/way";

let service: EngineService;
let proxy: TlsProxy;
const folder = scratchFolder(afterAll);
let stack: Stack;
beforeAll(async () => {
  service = await useEngineService();
  proxy = await startTlsProxy(service.proxy.origin, folder);
  const environment = Object.entries(service.environment).map(([name, value]) => [
    name,
    value.replace(service.proxy.origin, proxy.origin),
  ]);
  stack = await pluginWay.createStack(Object.fromEntries(environment));
  await stack.writeProgram(`
    const { NetworkVolume } = require("${pluginWay.module}");
    new NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1" });
  `);
});
afterAll(async () => {
  await stack.remove();
  await proxy.close();
});

it("a service with an untrusted certificate is rejected", async () => {
  const up = await stack.up({ end: "failure" });
  expect(up.output).toMatch(/self[- ]signed certificate/);
  expect((await service.listObjects()).volumes).toEqual([]);
});

it("a certificate in NODE_EXTRA_CA_CERTS is trusted", async () => {
  const env = { NODE_EXTRA_CA_CERTS: proxy.certificate };
  await stack.up({ env });
  expect((await service.listObjects()).volumes).toHaveLength(1);
});

if (process.env["FULL"]) {
  it("the same connection settings apply to deletes", async () => {
    await stack.destroy({ env: { NODE_EXTRA_CA_CERTS: proxy.certificate } });
  });

  it("an unreadable file is a warning, as in Node, and the connection fails", async () => {
    const up = await stack.up({ env: { NODE_EXTRA_CA_CERTS: join(folder, "none.pem") }, end: "failure" });
    expect(up.output).toContain("Ignoring extra certs from");
    expect(up.output).toMatch(/self[- ]signed certificate/);
  });
}
