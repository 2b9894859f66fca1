import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { dynamicWay } from "../engine/way";
import { type EngineService, useEngineService } from "../support/engine-service";
import { scratchFolder } from "../support/folders";
import type { Stack } from "../support/pulumi";
import { writePolicyHost } from "./support/policy-host";
import { repository } from "./support/sdk";
import { pluginWay } from "./support/way";

/** Copies the policy pack with the installed packages, for a host of the CLI. */
async function copyPack(folder: string): Promise<{ pack: string; bin: string }> {
  const pack = join(folder, "policy");
  await cp(join(repository, "examples", "policy"), pack, {
    recursive: true,
    filter: (path) => !path.endsWith("node_modules"),
  });
  await mkdir(join(pack, "node_modules"));
  for (const name of ["pulumi-serverless-compute", "serverless-compute-api"])
    await symlink(join(inject("packed"), "node_modules", name), join(pack, "node_modules", name));
  for (const name of ["@pulumi", "typescript"])
    await symlink(join(repository, "node_modules", name), join(pack, "node_modules", name));
  return { pack, bin: await writePolicyHost(pack) };
}

const prices = { gpus: { "NVIDIA L4": 0.69 }, volumes: { STANDARD: 0.07, HIGH_PERFORMANCE: 0.14 } };

const variants = [["the plugin", pluginWay] as const, ["dynamic resources", dynamicWay] as const];

describe.each(process.env["FULL"] ? variants : variants.slice(0, 1))(
  "the policy pack of the examples, with %s,",
  (_, variant) => {
    let service: EngineService;
    let stack: Stack;
    const folder = scratchFolder(afterAll, inject("packed"));
    let args: string[];
    let rules: string;
    beforeAll(async () => {
      service = await useEngineService();
      const { pack, bin } = await copyPack(folder);
      rules = join(folder, "rules.json");
      await writeFile(rules, JSON.stringify({ "hourly-budget": { maxHourly: 2, ...prices } }));
      args = ["--policy-pack", pack, "--policy-pack-config", rules];
      const path = [bin, process.env["PATH"]].join(delimiter);
      stack = await variant.createStack({ ...service.environment, PATH: path });
    });
    afterAll(() => stack.remove());

    const program = (parts: {
      image: string;
      token: string;
      workersMin: number;
      workersMax: number;
      protect: boolean;
    }) => `
    const { NetworkVolume, Secret, ServerlessEndpoint, Template } = require("${variant.module}");
    new NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1" }, { protect: ${parts.protect} });
    const hub = new Secret("hub", { value: "sesame-61b0" });
    const template = new Template("chat", { imageName: "${parts.image}", env: { HUB_TOKEN: ${parts.token} } });
    new ServerlessEndpoint("chat", {
      templateId: template.id,
      gpuTypeIds: ["NVIDIA L4"],
      workersMin: ${parts.workersMin},
      workersMax: ${parts.workersMax},
    });
  `;
    const validStack = { image: "acme/echo:1", token: "hub.reference", workersMin: 0, workersMax: 2, protect: true };

    it("fails a preview that violates the rules, and names each violated rule", async () => {
      const invalidStack = { image: "acme/echo", token: '"plain-5d1c"', workersMin: 1, workersMax: 3, protect: false };
      await stack.writeProgram(program(invalidStack));
      const { output } = await stack.preview({ args, end: "failure" });
      for (const violation of [
        "2.072 per hour at workersMax is above the budget of 2.",
        "workersMin is 1; outside prod it must be at most 0.",
        'imageName "acme/echo" may change at any time; use a digest or a version.',
        "env.HUB_TOKEN is a plain value; create a Secret and use its reference.",
        "Set the resource option `protect: true`.",
      ])
        expect(output).toContain(violation);
      expect(output).not.toContain("plain-5d1c");
    });

    if (process.env["FULL"])
      it("fails a preview with an unknown cost", async () => {
        await stack.writeProgram(program(validStack).replace("NVIDIA L4", "NVIDIA B200"));
        const { output } = await stack.preview({ args, end: "failure" });
        expect(output).toContain(
          'The cost of ServerlessEndpoint "chat" is unknown: GPU type "NVIDIA B200" has no known price.',
        );
      });

    it("passes a preview that follows the rules, with an active worker in production", async () => {
      await writeFile(
        rules,
        JSON.stringify({ "hourly-budget": { maxHourly: 2, ...prices }, "idle-workers": { production: ["dev"] } }),
      );
      await stack.writeProgram(program({ ...validStack, workersMin: 1 }));
      const { output } = await stack.preview({ args });
      expect(output).toContain("✅ serverless-compute@v0.1.0");
      expect(output).not.toContain("advisory");
    });
  },
);
