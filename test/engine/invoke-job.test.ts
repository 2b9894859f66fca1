import { afterAll, beforeAll, expect, it } from "vitest";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { dynamicDoor as door } from "./door";

let service: EngineService;
let stack: Stack;
beforeAll(async () => {
  service = await useEngineService();
  stack = await door.createStack(service.environment);
});
afterAll(() => stack.remove());

it("invokeJob in a program that is deployed fails with its message alone", async () => {
  await stack.program(`
    const { invokeJob } = require("${door.module}");
    module.exports = invokeJob({ endpointId: "nobody", input: {} }).then(({ output }) => ({ output }));
  `);
  const up = await stack.up();
  expect(up.code).not.toBe(0);
  expect(up.output).toContain('endpoint "nobody" is unknown to the service');
  // A stack would lead into this package, and the engine's host takes half a minute to colour it.
  expect(up.output).not.toMatch(/^ +at /m);
});
