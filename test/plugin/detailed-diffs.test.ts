import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { pluginWay } from "./support/way";

let service: EngineService;
let stack: Stack;
const program = (template: object, endpoint: object): string => `
  const { ServerlessEndpoint, Template } = require("${pluginWay.module}");
  const template = new Template("chat", ${JSON.stringify({ imageName: "acme/chat:1", ...template })});
  new ServerlessEndpoint("chat", { templateId: template.id, workersMax: 0, ...${JSON.stringify(endpoint)} });
`;
beforeAll(async () => {
  service = await useEngineService();
  stack = await pluginWay.createStack(service.environment);
  await stack.program(program({ env: { A: "1", B: "2", "with.dot": "x" } }, { dataCenterIds: ["EU-RO-1"] }));
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  await stack.program(
    program(
      { env: { A: "9", C: "3", "with.dot": "y" }, dockerArgs: "--with-c" },
      { dataCenterIds: ["US-KS-2"], computeType: "CPU" },
    ),
  );
});
afterAll(() => stack.remove());

/** The lines about a resource: from its first to the one before the next resource. */
function section(output: string, type: string): string[] {
  const lines = output.split("\n").map((line) => line.trimEnd());
  const start = lines.findIndex((line) => line.includes(`serverless-compute:index:${type}: `));
  const length = lines.slice(start + 1).findIndex((line) => /serverless-compute:index:\w+: |^Resources:/.test(line));
  return lines
    .slice(start + 1, start + 1 + length)
    .map((line) => line.trim().replace(/\[(id|urn|provider)=.*\]/, "[$1]"));
}

it("shows each changed nested property and only those", async () => {
  const { code, output } = await stack.preview({ args: ["--diff"] });
  expect(code, output).toBe(0);
  expect(section(output, "Template")).toMatchInlineSnapshot(`
    [
      "[id]",
      "[urn]",
      "+ dockerArgs: "--with-c"",
      "~ env       : {",
      "~ A       : "1" => "9"",
      "- B       : "2"",
      "+ C       : "3"",
      "~ with.dot: "x" => "y"",
      "}",
    ]
  `);
  expect(section(output, "ServerlessEndpoint")).toMatchInlineSnapshot(`
    [
      "[id]",
      "[urn]",
      "~ computeType  : "GPU" => "CPU"",
      "~ dataCenterIds: [",
      "~ [0]: "EU-RO-1" => "US-KS-2"",
      "]",
    ]
  `);
});

const previewShape = z.object({
  steps: z.array(
    z.looseObject({
      op: z.string(),
      urn: z.string(),
      detailedDiff: z.record(z.string(), z.looseObject({ kind: z.string() })).nullish(),
    }),
  ),
});

it("tells the same in JSON", async () => {
  const { code, output } = await stack.command(["preview", "--json"]);
  expect(code, output).toBe(0);
  const { steps } = previewShape.parse(JSON.parse(output.slice(output.indexOf("{"))));
  const told = steps
    .filter(({ op }) => op === "update" || op === "replace")
    .map(({ urn, op, detailedDiff }) => [
      urn.split(":").slice(-3).join(":"),
      op,
      Object.fromEntries(Object.entries(detailedDiff ?? {}).map(([path, { kind }]) => [path, kind])),
    ]);
  expect(told).toMatchInlineSnapshot(`
    [
      [
        "Template::chat",
        "update",
        {
          "dockerArgs": "update",
          "env.A": "update",
          "env.B": "delete",
          "env.C": "add",
          "env["with.dot"]": "update",
        },
      ],
      [
        "ServerlessEndpoint::chat",
        "replace",
        {
          "computeType": "update-replace",
          "dataCenterIds": "update",
        },
      ],
    ]
  `);
});
