import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { noteSecret } from "../support/secret-scan";
import { pluginWay } from "./support/way";

let stack: Stack;
beforeAll(async () => {
  const { environment } = await useEngineService();
  stack = await pluginWay.createStack(environment);
});
afterAll(() => stack.remove());

const program = (size: string, workersMax: number, token: string): string => {
  noteSecret(token, "a secret of the program");
  return `
    const { NetworkVolume, Secret, ServerlessEndpoint, Template } = require("${pluginWay.module}");
    new Secret("token", { value: "${token}" });
    new NetworkVolume("models", { ${size}, name: "models" });
    const template = new Template("chat", { imageName: "${image("echo")}" });
    new ServerlessEndpoint("chat", { templateId: template.id, workersMax: ${workersMax} });
  `;
};

it("the comment of a preview contains every change, no secret, and the same bytes for the same state", async () => {
  await stack.program(program('size: 10, dataCenterId: "EU-RO-1"', 1, "sesame-41ce"));
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  await stack.program(program('size: 10, dataCenterId: "EU-SE-1"', 3, "sesame-9d03"));
  const comments: string[] = [];
  for (const name of ["first", "second"]) {
    const { output } = await stack.command(["preview", "--json"]);
    const file = join(stack.folder, `${name}.json`);
    await writeFile(file, output);
    const { code, stdout, stderr } = await stack.tool(["preview-comment", file]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    comments.push(stdout);
  }
  const [first = "", second] = comments;
  expect(second).toBe(first);
  expect(first.split("\n").slice(6)).toEqual([
    "| --- | --- | --- | --- |",
    '| **replace** | `models` NetworkVolume | `dataCenterId` forces replacement | `"EU-RO-1"` → `"EU-SE-1"` |',
    "|  |  | ⚠️ warning | dataCenterId: a replaced volume loses its data |",
    "| update | `token` Secret | `value` | `[secret]` → `[secret]` |",
    "| update | `chat` ServerlessEndpoint | `workersMax` | `1` → `3` |",
    "|  |  | ⚠️ warning | workersMax: active workers may restart |",
    "",
  ]);
});

it("destroys the stack", async () => {
  const destroy = await stack.destroy();
  expect(destroy.code, destroy.output).toBe(0);
});
