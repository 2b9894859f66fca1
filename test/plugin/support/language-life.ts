import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { dialect } from "../../support/dialect";
import { type EngineService, useCrowdedService } from "../../support/engine-service";
import { createStack, type Stack } from "../../support/pulumi";
import { registerSecret } from "../../support/secret-scan";

/** A language for plugin programs, with its version of the example. */
interface ProgramLanguage {
  /** Name of the folder in examples/. */
  example: string;
  /** Installs the dependencies listed in the example's README, other than the plugin, into the copied folder. */
  install?(folder: string): Promise<void>;
  /** Additional variables for the engine's commands. */
  environment?: Record<string, string>;
}

/** Tests of the lifecycle of an unchanged example of the repository; each step depends on the previous step. */
export function lifecycleIn(language: ProgramLanguage): void {
  const example = fileURLToPath(new URL(`../../../examples/${language.example}`, import.meta.url));
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useCrowdedService();
    stack = await createStack({ ...service.environment, ...language.environment }, { example });
    const program = join(stack.folder, "program");
    const name = join("node_modules", "pulumi-serverless-compute");
    await mkdir(join(program, "node_modules"), { recursive: true });
    await symlink(join(inject("packed"), name), join(program, name));
    await language.install?.(program);
    registerSecret("sesame-61b0", "a secret of the stack's config");
    await stack.command(["config", "set", "--secret", "hubToken", "sesame-61b0"]);
  });
  afterAll(() => stack.remove());

  const forEveryResource = (operation: string) => ({
    "NetworkVolume models": [operation],
    "Template template": [operation],
    "ServerlessEndpoint chat": [operation],
    "JobInvoke answers": [operation],
  });

  it("deploys, with outputs", async () => {
    const up = await stack.up();
    expect(up.operations).toMatchObject(forEveryResource("create"));
    const { output } = await stack.command(["stack", "output", "--json"]);
    const [endpoint] = (await service.listObjects()).endpoints;
    const url = `${service.proxy.origin}/v2/${endpoint?.id}`;
    expect(JSON.parse(output)).toEqual({ url, answer: { text: "pong" } });
  });

  if (!process.env["FULL"]) return;

  it("sends no request without a change", async () => {
    service.proxy.clear();
    const up = await stack.up();
    expect(up.operations).toMatchObject(forEveryResource("same"));
    expect(service.proxy.requests).toEqual([]);
  });

  it("destroys everything", async () => {
    await stack.destroy();
    expect(await service.listObjects()).toEqual({ endpoints: [], volumes: [], templates: [], secrets: [] });
    if (dialect === "v2") expect(service.retiredRequests()).toEqual([]);
  });
}
