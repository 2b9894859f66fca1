import { readFileSync } from "node:fs";
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { z } from "zod";
import { type EngineService, useEngineService } from "../support/engine-service";
import { createStack, pluginLines, pluginVersion, type Stack } from "../support/pulumi";
import { findYaml } from "./support/yaml";

const yaml = await findYaml();
const packageName = "pulumi-serverless-compute";
const laterVersion = "99.0.0";
const schemaShape = z.looseObject({ description: z.string() });
const { description } = schemaShape.parse(
  JSON.parse(readFileSync(new URL("../../schema.json", import.meta.url), "utf8")),
);
const laterDescription = description.toUpperCase();

/** The engine caches the schema of a plugin with a version, so that it starts no process to read it. */
describe.skipIf(yaml.missing !== undefined)("the engine's schema cache, with a version in the plugin's lines,", () => {
  let service: EngineService;
  let stack: Stack;
  let installed: string;
  beforeAll(async () => {
    service = await useEngineService();
    stack = await createStack({ ...service.environment, PATH: yaml.path }, { runtime: "yaml" });
    installed = join(stack.folder, "program", "node_modules", packageName);
    await install();
  });
  afterAll(() => stack.remove());

  const install = (): Promise<void> =>
    cp(join(inject("packed"), "node_modules", packageName), installed, {
      recursive: true,
      // Other tests use the installed package; this test changes a copy.
      filter: (path) => !basename(path).startsWith("schema-serverless-compute-"),
    });

  /** Changes the installed package into another release, with a different description in its schema. */
  const writeLaterVersion = async (): Promise<void> => {
    const folder = join(installed, "dist");
    for (const name of await readdir(folder)) {
      if (!/\.(js|json)$/.test(name)) continue;
      const text = await readFile(join(folder, name), "latin1");
      await writeFile(join(folder, name), text.replaceAll(description, laterDescription), "latin1");
    }
  };

  const previewWith = async (version: string): Promise<void> => {
    const lines = pluginLines(`node_modules/${packageName}/bin`, version);
    const models =
      "models:\n    type: serverless-compute:NetworkVolume\n    properties: { size: 10, dataCenterId: EU-RO-1 }";
    const text = `name: shop\nruntime: yaml\n${lines}resources:\n  ${models}\n`;
    await writeFile(join(stack.folder, "program", "Pulumi.yaml"), text);
    const preview = await stack.preview();
    expect(preview.operations).toMatchObject({ "NetworkVolume models": ["create"] });
  };

  /** Descriptions in the engine's cached schemas, by version. */
  const readCache = async (): Promise<Record<string, string>> => {
    const files = [...(await stack.files())].filter(([path]) =>
      /^schema-serverless-compute-.*\.json$/.test(basename(path)),
    );
    return Object.fromEntries(
      files.map(([path, text]) => [
        basename(path).replace(/^schema-serverless-compute-|-?\.json$/g, ""),
        schemaShape.parse(JSON.parse(text)).description,
      ]),
    );
  };

  it("is kept", async () => {
    await previewWith(pluginVersion);
    expect(await readCache()).toEqual({ [pluginVersion]: description });
  });

  it("is refreshed by an installation that recreates the folder, even if the lines name the old version", async () => {
    await rm(installed, { recursive: true });
    await install();
    await writeLaterVersion();
    await previewWith(pluginVersion);
    expect(await readCache()).toEqual({ [pluginVersion]: laterDescription });
  });

  it("is refreshed by changed lines, even if the files were overwritten in place", async () => {
    await rm(installed, { recursive: true });
    await install();
    await previewWith(pluginVersion);
    await writeLaterVersion();
    await previewWith(laterVersion);
    expect(await readCache()).toEqual({ [pluginVersion]: description, [laterVersion]: laterDescription });
  });
});
