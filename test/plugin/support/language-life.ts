import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { z } from "zod";
import { dialect } from "../../support/dialect";
import { type EngineService, useCrowdedService } from "../../support/engine-service";
import { createStack, type Stack, shown } from "../../support/pulumi";

/** A language for plugin programs, with its version of the example. */
export interface ProgramLanguage {
  /** Name of the folder in examples/. */
  example: string;
  /** The example's file that is the program. */
  main: string;
  /** Installs the dependencies listed in the example's README, other than the plugin, into the copied folder. */
  install?(folder: string): Promise<void>;
  /** Added to the environment of the engine's commands. */
  environment?: Record<string, string>;
  /** The program with one more volume, named `shared`, of 20 GB in EU-RO-1. */
  withSharedVolume(program: string): string;
  /** The program with a secret of that value, where the example has none from its stack's config. */
  withSecret?(program: string, value: string): string;
}

const secret = "sesame-61b0";
const idShape = z.looseObject({ id: z.string() });

/** Tests of an example's whole life, unchanged from the repository: each step depends on the previous one. */
export function lifeIn(language: ProgramLanguage): void {
  const example = fileURLToPath(new URL(`../../../examples/${language.example}`, import.meta.url));
  let service: EngineService;
  let stack: Stack;
  let original: string;
  /** Replaces the program by the example's with some of its text changed. */
  const write = async (change: (text: string) => string = (text) => text): Promise<void> => {
    const text = change(original);
    await writeFile(join(stack.folder, "program", language.main), text);
  };
  beforeAll(async () => {
    service = await useCrowdedService();
    stack = await createStack({ ...service.environment, ...language.environment }, { example });
    const program = join(stack.folder, "program");
    const name = join("node_modules", "pulumi-serverless-compute");
    await mkdir(join(program, "node_modules"), { recursive: true });
    await symlink(join(inject("packed"), name), join(program, name));
    await language.install?.(program);
    const text = await readFile(join(program, language.main), "utf8");
    original = language.withSecret?.(text, secret) ?? text;
    await write();
    if (language.withSecret) return;
    const { code, output } = await stack.command(["config", "set", "--secret", "hubToken", secret]);
    expect(code, output).toBe(0);
  });
  afterAll(() => stack.remove());

  const models = "NetworkVolume models";
  const everyOne = (operation: string) => ({
    [models]: [operation],
    "Template template": [operation],
    "ServerlessEndpoint chat": [operation],
    "JobInvoke answers": [operation],
  });

  const isFull = Boolean(process.env["FULL"]);

  if (isFull)
    it("previews the creates and creates nothing", async () => {
      const preview = await stack.preview();
      expect(preview.code, preview.output).toBe(0);
      expect(preview.operations).toMatchObject(everyOne("create"));
      expect(await service.holdings()).toEqual({ endpoints: [], volumes: [], templates: [], secrets: [] });
    });

  it("deploys, with outputs", async () => {
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(up.operations).toMatchObject(everyOne("create"));
    const { output } = await stack.command(["stack", "output", "--json"]);
    const [endpoint] = (await service.holdings()).endpoints;
    const url = `${service.proxy.origin}/v2/${endpoint?.id}`;
    expect(JSON.parse(output)).toEqual({ url, answer: { text: "pong" } });
  });

  if (!isFull) return;

  it("sends no request without a change", async () => {
    service.proxy.clear();
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(up.operations).toMatchObject(everyOne("same"));
    expect(service.proxy.requests).toEqual([]);
  });

  it("previews a nested change by itself, and rejects bad input before any request", async () => {
    await write((text) => text.replace("small", "large"));
    const preview = await stack.preview({ args: ["--diff"] });
    expect(preview.code, preview.output).toBe(0);
    expect(preview.output).toMatch(/~ env *: \{\s+~ MODEL *: "small" => "large"\s+\}/);
    expect(preview.operations).toMatchObject({ [models]: ["same"], "Template template": ["update"] });
    service.proxy.clear();
    await write((text) => text.replace(/(workers_?max(?:=|: ))1/i, "$1-1"));
    const refused = await stack.preview();
    expect(refused.code).not.toBe(0);
    expect(refused.output).toContain("property workersMax value {-1} has a problem: is -1");
    expect(service.proxy.requests).toEqual([]);
  });

  it("replaces according to the preview", async () => {
    const before = await service.holdings();
    await write((text) => text.replace("EU-RO-1", "US-KS-2"));
    const preview = await stack.preview();
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(up.operations[models]).toEqual(["create-replacement", "replace", "delete-replaced"]);
    expect([...(preview.operations[models] ?? [])].sort()).toEqual([...(up.operations[models] ?? [])].sort());
    const after = await service.holdings();
    expect(after.volumes).toMatchObject([{ dataCenterId: "US-KS-2" }]);
    expect(after.volumes[0]?.id).not.toBe(before.volumes[0]?.id);
    expect(after.endpoints[0]?.id).toBe(before.endpoints[0]?.id);
  });

  it("detects outside changes at a refresh and reverts them", async () => {
    const [endpoint] = (await service.holdings()).endpoints;
    await service.rest("PATCH", `/endpoints/${endpoint?.id}`, { workersMax: 3 });
    const refresh = await stack.refresh({ args: ["--diff"] });
    expect(refresh.code, refresh.output).toBe(0);
    expect(refresh.output).toMatch(/~ workersMax *: 1 => 3/);
    expect(refresh.operations).toMatchObject({ [models]: ["same"], "ServerlessEndpoint chat": ["update"] });
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect((await service.holdings()).endpoints).toMatchObject([{ workersMax: 1 }]);
  });

  it("imports an unmanaged object by its id without further changes", async () => {
    const inputs = { name: "shared", size: 20, dataCenterId: "EU-RO-1" };
    const { id } = idShape.parse(await service.rest("POST", "/networkvolumes", inputs));
    const args = ["import", "serverless-compute:index:NetworkVolume", "shared", id, "--protect=false"];
    const imported = await stack.command([...args, "--yes", "--generate-code=false"]);
    expect(imported.code, imported.output).toBe(0);
    const found = (await stack.resources()).find((resource) => resource.id === id);
    expect(found).toMatchObject({ inputs, outputs: inputs });
    await write((text) => language.withSharedVolume(text.replace("EU-RO-1", "US-KS-2")));
    service.proxy.clear();
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(up.operations).toMatchObject({ ...everyOne("same"), "NetworkVolume shared": ["same"] });
    expect(service.proxy.requests).toEqual([]);
  });

  it("imports a secret without its value, which is nowhere in plain text", async () => {
    const [token] = (await service.holdings()).secrets;
    const args = ["import", "serverless-compute:index:Secret", "taken", token?.id ?? "", "--protect=false"];
    const imported = await stack.command([...args, "--yes", "--generate-code=false"]);
    expect(imported.code, imported.output).toBe(0);
    expect(imported.output).not.toContain(secret);
    for (const [path, text] of await stack.files()) {
      // The program, written by the test, and the engine's debug log may contain it.
      if (language.withSecret && path.endsWith(language.main)) continue;
      const lines = shown(text).split("\n");
      expect(lines.filter((line) => line.includes(secret)).length, path).toBe(0);
    }
  });

  it("destroys everything", async () => {
    const destroy = await stack.destroy();
    expect(destroy.code, destroy.output).toBe(0);
    expect(await service.holdings()).toEqual({ endpoints: [], volumes: [], templates: [], secrets: [] });
    if (dialect === "v2") expect(service.retiredRequests()).toEqual([]);
  });
}
