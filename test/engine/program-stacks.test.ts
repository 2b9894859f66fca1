import { afterAll, beforeAll, expect, it } from "vitest";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { dynamicWay } from "./way";

let service: EngineService;
let stack: Stack;
beforeAll(async () => {
  service = await useEngineService();
  stack = await dynamicWay.createStack(service.environment);
});
afterAll(() => stack.remove());

it("the engine reports each resource's line in the program", async () => {
  const kinds = ["Template", "ServerlessEndpoint", "NetworkVolume", "Secret", "ContainerRegistryAuth", "JobInvoke"];
  const program = `const { ${kinds.join(", ")} } = require("${dynamicWay.module}");
    const { id: templateId } = new Template("a", { imageName: "${image("echo")}" });
    const { id: endpointId } = new ServerlessEndpoint("a", { templateId, workersMax: 1 });
    new NetworkVolume("a", { size: 10, dataCenterId: "EU-RO-1" });
    new Secret("a", { value: "not so secret" });
    new ContainerRegistryAuth("a", { username: "u", password: "p" });
    new JobInvoke("a", { endpointId, input: {} });
  `;
  await stack.writeProgram(program);
  await stack.up();
  const positions = (await stack.resources()).map(({ type, sourcePosition }) => [
    type.split(":").at(-1),
    sourcePosition,
  ]);
  const lines = program.split("\n");
  const lineOf = (kind: string): number => lines.findIndex((line) => line.includes(`new ${kind}(`)) + 1;
  expect(Object.fromEntries(positions)).toEqual(
    Object.fromEntries(
      kinds.map((kind) => [kind, expect.stringMatching(new RegExp(`^project:///index\\.js#${lineOf(kind)},`))]),
    ),
  );
  await stack.destroy();
});
