import { afterAll, beforeAll, expect, it } from "vitest";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { dynamicWay } from "./way";

let service: EngineService;
let stack: Stack;
beforeAll(async () => {
  service = await useEngineService({ templateRelease: 60_000 });
  stack = await dynamicWay.createStack(service.environment);
});
afterAll(() => stack.remove());

const template = (options: object): string => `
  const { JobInvoke, ServerlessEndpoint, Template } = require("${dynamicWay.module}");
  const options = ${JSON.stringify(options)};
  const template = new Template("chat", { imageName: "${image("echo")}" }, options);
  const endpoint = new ServerlessEndpoint("chat", { templateId: template.id, workersMax: 1 });
  new JobInvoke("smoke", { endpointId: endpoint.id, input: { text: "ping" } }, options);
`;

it("a changed timeout alone is stored without a call, and the next delete uses it", async () => {
  await stack.program(template({}));
  const made = await stack.up();
  expect(made.code, made.output).toBe(0);
  await stack.program(template({ customTimeouts: { delete: "3s" } }));
  service.proxy.clear();
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  expect(up.operations).toMatchObject({ "Template chat": ["update"], "ServerlessEndpoint chat": ["same"] });
  expect(service.proxy.requests).toEqual([]);
  expect((await stack.up()).operations).toMatchObject({ "Template chat": ["same"], "JobInvoke smoke": ["same"] });
  await service.lastUse(String((await service.holdings()).templates[0]?.id));
  const destroy = await stack.destroy();
  expect(destroy.code).not.toBe(0);
  expect(destroy.output).toContain("delete timed out after 3 s (customTimeouts.delete)");
});

it("timeouts set by a resource's own transforms apply, and a VerifiedEndpoint passes its own to its resources", async () => {
  const other = await dynamicWay.createStack(service.environment);
  await other.program(`
    const { NetworkVolume, VerifiedEndpoint } = require("${dynamicWay.module}");
    const bound = (customTimeouts) => ({ props, opts }) => ({ props, opts: { ...opts, customTimeouts } });
    const volume = { size: 10, dataCenterId: "EU-RO-1" };
    new NetworkVolume("plain", volume);
    new NetworkVolume("own", volume, { transforms: [bound({ create: "41s" })] });
    new NetworkVolume("opened", volume, { customTimeouts: { create: "42s" }, transforms: [bound({})] });
    new VerifiedEndpoint("verified", {
      template: { imageName: "${image("echo")}" },
      endpoint: { workersMax: 1 },
      verify: { input: { text: "pong" }, expect: { output: { text: "pong" } }, timeout: 60 },
    }, { customTimeouts: { delete: "43s" } });
  `);
  const up = await other.up();
  expect(up.code, up.output).toBe(0);
  const timeouts = (await other.resources()).map(({ urn, outputs }) => {
    const [type, name] = urn.split("::").slice(-2);
    return [`${type?.split(":").at(-1)} ${name}`, outputs?.["__timeouts"]];
  });
  expect(Object.fromEntries(timeouts)).toEqual({
    "NetworkVolume plain": undefined,
    "NetworkVolume own": { create: "41s" },
    "NetworkVolume opened": undefined,
    "Template verified": { delete: "43s" },
    "ServerlessEndpoint verified": { delete: "43s" },
  });
  expect((await other.up()).operations).toMatchObject({ "NetworkVolume own": ["same"] });
  const destroy = await other.destroy();
  expect(destroy.code, destroy.output).toBe(0);
  await other.remove();
});
