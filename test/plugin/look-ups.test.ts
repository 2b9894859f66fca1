import { afterAll, beforeAll, expect, it } from "vitest";
import { lookUpsThrough } from "../doors/look-ups";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { pluginDoor } from "./support/door";

lookUpsThrough(pluginDoor, (id) => `{ endpointId: ${id} }`);

let service: EngineService;
let stack: Stack;
beforeAll(async () => {
  service = await useEngineService();
  stack = await pluginDoor.createStack(service.environment);
});
afterAll(() => stack.remove());

it.each([
  ["getSecret", { nmae: "token" }, 'getSecret: unknown argument "nmae"; known are id, name'],
  ["getEndpointHealth", { endpointId: "nowhere" }, 'endpoint "nowhere" is unknown to the service'],
])("%s of %j says what is wrong", async (name, args, message) => {
  await stack.program(
    `module.exports = require("${pluginDoor.module}").${name}(${JSON.stringify(args)}).then((found) => ({ found }));`,
  );
  const preview = await stack.preview();
  expect(preview.code).not.toBe(0);
  expect(preview.output).toContain(message);
});
