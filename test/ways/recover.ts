import { afterAll, beforeAll, expect, it } from "vitest";
import { restPaths } from "../support/dialect";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { noteSecret } from "../support/secret-scan";
import { isEngine, killStackProcesses, stackProcesses } from "../support/stack-processes";
import type { Way } from "./way";

/** The command `recover` after a killed engine, with one create applied and one that never arrived. */
export function recoverThrough(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    stack = await way.createStack(service.environment);
    noteSecret("sesame-58e3", "a secret of the program");
    await stack.program(`
      const { NetworkVolume, Secret } = require("${way.module}");
      const token = new Secret("token", { value: "sesame-58e3" });
      new NetworkVolume("cache", { size: 10, dataCenterId: "EU-RO-1" }, { dependsOn: token });
      new NetworkVolume("models", { size: 20, dataCenterId: "EU-RO-1" }, { dependsOn: token });
    `);
  });
  afterAll(async () => {
    await killStackProcesses(stack.folder);
    await stack.remove();
  });

  const volumes = async () => (await service.holdings()).volumes;
  const creates = () =>
    service.proxy.requests.filter(
      ({ method, path, fault }) => method === "POST" && path === restPaths.volumes && fault,
    );

  it("lists the object of a killed create, and the create that can be cleared", async () => {
    const volume = (name: string) => ({ method: "POST", path: restPaths.volumes, body: new RegExp(`"${name}-dev`) });
    service.proxy.inject(volume("cache"), { kind: "answerLate", ms: 60_000 });
    service.proxy.inject(volume("models"), { kind: "status", status: 429, retryAfter: "60" });
    const running = stack.up();
    await expect.poll(() => creates().length, { timeout: 60_000 }).toBe(2);
    await expect.poll(async () => (await volumes()).length).toBe(1);
    const [engine] = (await stackProcesses(stack.folder)).filter(isEngine);
    if (!engine) throw new Error("no engine was found");
    process.kill(engine.pid, "SIGKILL");
    await killStackProcesses(stack.folder);
    await running;
    service.proxy.clear();

    const [cache] = await volumes();
    const { code, stdout } = await stack.tool(["recover"]);
    expect(code, stdout).toBe(3);
    expect(stdout).toContain(`NetworkVolume "cache": created as ${cache?.id}, named "${cache?.name}".`);
    expect(stdout).toMatch(/NetworkVolume "models": not created; no object is named "models-dev-[0-9a-f]{7}"/);
    expect(stdout).toMatch(
      /To import 1 object and clear 1 pending create, run:\n {2}npx --no serverless-compute recover --yes/,
    );
    expect(stdout).not.toContain("Objects with default names");
  });

  it("changes nothing while the killed command still holds the lock", async () => {
    const { code, stderr } = await stack.tool(["recover", "--stack", "dev", "--yes"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/locked[\s\S]*serverless-compute: `pulumi stack import` failed/);
    expect((await stack.resources()).map(({ urn }) => urn.split("::").at(-1))).toEqual(["token"]);
  });

  it("imports the object and clears the other create with --yes", async () => {
    expect((await stack.command(["cancel", "--yes"])).code).toBe(0);
    const { code, stdout, stderr } = await stack.tool(["recover", "--yes"]);
    expect(code, stdout + stderr).toBe(0);
    expect(stderr).toContain("Imported: 1. Cleared: 1.");
    const again = await stack.tool(["recover"]);
    expect(again).toMatchObject({ code: 0, stdout: "Nothing to recover: no pending operations, no leftovers.\n" });
  });

  it("the next deployment creates only the missing object", async () => {
    const [cache] = await volumes();
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(up.output).not.toContain("pending operations");
    expect(up.operations).toMatchObject({ "NetworkVolume cache": ["same"], "NetworkVolume models": ["create"] });
    expect((await volumes()).map(({ id }) => id)).toContain(cache?.id);
    expect(await volumes()).toHaveLength(2);
    const destroy = await stack.destroy();
    expect(destroy.code, destroy.output).toBe(0);
    expect(await volumes()).toEqual([]);
  });
}
