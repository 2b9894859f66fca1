import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { z } from "zod";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import { createStack, type Run, type Stack } from "../support/pulumi";
import { findYaml } from "./support/yaml";

const yaml = await findYaml();
const outputs = z.object({ url: z.string(), version: z.number(), template: z.string() });

/** The steps of examples/safe-rollout/README.md, with handlers of the tests behind its two images. */
if (yaml.missing === undefined)
  describe("the example of a safe rollout in YAML", () => {
    let service: EngineService;
    let stack: Stack;
    beforeAll(async () => {
      const handler = (name: string) => fileURLToPath(new URL(`../conformance/handlers/${name}.mjs`, import.meta.url));
      service = await useEngineService({
        images: { [image("echo")]: handler("echo"), "acme/echo:2": handler("fail") },
      });
      const example = fileURLToPath(new URL("../../examples/safe-rollout", import.meta.url));
      stack = await createStack({ ...service.environment, PATH: yaml.path }, { example });
      const modules = join(stack.folder, "program", "node_modules");
      await mkdir(modules, { recursive: true });
      const name = "pulumi-serverless-compute";
      await symlink(join(inject("packed"), "node_modules", name), join(modules, name));
    });
    afterAll(() => stack.remove());

    const upWith = async (name: string): Promise<Run> => {
      const { code, output } = await stack.command(["config", "set", "image", name]);
      expect(code, output).toBe(0);
      return stack.up();
    };

    it("deploys, goes back from a broken image, takes the change back and is destroyed", async () => {
      const first = await stack.up();
      expect(first.code, first.output).toBe(0);
      const broken = await upWith("acme/echo:2");
      expect(broken.code).not.toBe(0);
      expect(broken.output).toMatch(/version 2 failed its verification; version 1 is back/);
      const back = await upWith("acme/echo:1");
      expect(back.code, back.output).toBe(0);
      const { output } = await stack.command(["stack", "output", "--json"]);
      const { templates } = await service.holdings();
      expect(outputs.parse(JSON.parse(output)).template).toBe(templates[0]?.name);
      expect(templates).toHaveLength(1);
      const destroy = await stack.destroy();
      expect(destroy.code, destroy.output).toBe(0);
      expect(await service.holdings()).toMatchObject({ endpoints: [], templates: [] });
    });
  });
