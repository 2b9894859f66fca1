import { afterAll, beforeAll, expect, it } from "vitest";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { dynamicWay as way } from "./way";

let service: EngineService;
let stack: Stack;
beforeAll(async () => {
  service = await useEngineService();
  stack = await way.createStack(service.environment);
});
afterAll(() => stack.remove());

it("invokeJob in a deployed program fails with its message only", async () => {
  await stack.writeProgram(`
    const { invokeJob } = require("${way.module}");
    module.exports = invokeJob({ endpointId: "nobody", input: {} }).then(({ output }) => ({ output }));
  `);
  const up = await stack.up({ end: "failure" });
  expect(up.output).toContain('endpoint "nobody" is unknown to the service');
  // A stack trace would point into this package, and the engine's host needs half a minute to colour it.
  expect(up.output).not.toMatch(/^ +at /m);
});

it("invokeJob reads the stack's config, like lookups and resources", async () => {
  const secondStack = await way.createStack({});
  try {
    const { serverlessUrl, apiKey } = service.service;
    const config = { serverlessUrl, baseUrl: "http://service.invalid/v1" };
    await secondStack.command(["config", "set", "--secret", "serverless-compute:apiKey", apiKey]);
    for (const [name, value] of Object.entries(config))
      await secondStack.command(["config", "set", `serverless-compute:${name}`, value]);
    await secondStack.writeProgram(`
      const { invokeJob } = require("${way.module}");
      module.exports = invokeJob({ endpointId: "nobody", input: {} }).then(({ output }) => ({ output }));
    `);
    const up = await secondStack.up({ end: "failure" });
    expect(up.output).toContain('endpoint "nobody" is unknown to the service');
    expect(up.output).toContain(
      "serverless-compute:baseUrl: the API key is sent to http://service.invalid unencrypted",
    );
  } finally {
    await secondStack.remove();
  }
});
