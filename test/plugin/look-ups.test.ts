import { afterAll, beforeAll, expect, it } from "vitest";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { lookUpsThrough } from "../ways/look-ups";
import { pluginWay } from "./support/way";

lookUpsThrough(pluginWay, (id) => `{ endpointId: ${id} }`);

let service: EngineService;
let stack: Stack;
beforeAll(async () => {
  service = await useEngineService();
  stack = await pluginWay.createStack(service.environment);
});
afterAll(() => stack.remove());

it.each([
  ["getSecret", { nmae: "token" }, 'getSecret: unknown argument "nmae"; expected one of id, name'],
  ["getEndpointHealth", { endpointId: "nowhere" }, 'endpoint "nowhere" is unknown to the service'],
])("%s of %j says what is wrong", async (name, args, message) => {
  await stack.program(
    `module.exports = require("${pluginWay.module}").${name}(${JSON.stringify(args)}).then((found) => ({ found }));`,
  );
  const preview = await stack.preview();
  expect(preview.code).not.toBe(0);
  expect(preview.output).toContain(message);
});
