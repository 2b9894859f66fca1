import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { archivePlugin } from "../../scripts/release/archive-plugin.mjs";
import { withFingerprints } from "../support/default-names";
import { type EngineService, useEngineService } from "../support/engine-service";
import { createStack, type Stack } from "../support/pulumi";
import { pluginWay } from "./support/way";

let service: EngineService;
let stack: Stack;
let archives: string;
beforeAll(async () => {
  archives = join(inject("packed"), "archives");
  service = await useEngineService();
  stack = await createStack(service.environment);
});
afterAll(async () => {
  await stack.remove();
  await rm(archives, { recursive: true, force: true });
});

it("the archive installs with Pulumi's own command, and programs require no line in Pulumi.yaml", async () => {
  const archive = await archivePlugin(archives);
  const version = /-v([^/]+)\.tar\.gz$/.exec(archive)?.[1] ?? "";
  const install = ["plugin", "install", "resource", "serverless-compute", version, "--file", archive];
  await stack.command(install);
  await stack.writeProgram(`
    const { NetworkVolume } = require("${pluginWay.module}");
    new NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1" });
  `);
  await stack.up();
  expect((await service.listObjects()).volumes).toMatchObject([{ name: withFingerprints("models-dev") }]);
  await stack.destroy();
});
