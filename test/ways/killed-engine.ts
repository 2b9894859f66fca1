import { afterAll, beforeAll, expect, it } from "vitest";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { isEngine, isProvider, killStackProcesses, stackProcesses } from "../support/stack-processes";
import type { Way } from "./way";

/** The engine is killed without notifying the processes that it started. */
export function killedEngineThrough(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    stack = await way.createStack(service.environment);
  });
  afterAll(async () => {
    // Processes that Pulumi itself leaves behind: the language host and the program.
    await killStackProcesses(stack.folder);
    await stack.remove();
  });

  const program = (ms: number): string => `
  const { JobInvoke, ServerlessEndpoint, Template } = require("${way.module}");
  const template = new Template("slow", { imageName: "${image("slow")}" });
  const endpoint = new ServerlessEndpoint("slow", { templateId: template.id, workersMax: 1 });
  new JobInvoke("long", { endpointId: endpoint.id, input: { ms: ${ms} }, timeout: 300 });
`;
  const providers = async () => (await stackProcesses(stack.folder)).filter(isProvider);
  /** The last poll of the job, as recorded by the proxy. */
  const job = () => service.proxy.requests.findLast(({ path, status }) => path.includes("/status/") && status === 200);

  it("a provider whose engine is killed during a job cancels the job and ends", async () => {
    await stack.program(program(120_000));
    const running = stack.up();
    await expect.poll(job, { timeout: 60_000 }).toBeDefined();
    expect(await providers()).not.toEqual([]);
    const [engine] = (await stackProcesses(stack.folder)).filter(isEngine);
    if (!engine) throw new Error("no engine was found");
    process.kill(engine.pid, "SIGKILL");
    await expect.poll(providers, { timeout: 20_000, interval: 100 }).toEqual([]);
    const [endpoint] = (await service.holdings()).endpoints;
    const jobId = job()?.path.split("/").at(-1);
    expect(await service.job("GET", endpoint?.id ?? "", `/status/${jobId}`)).toMatchObject({ status: "CANCELLED" });
    await killStackProcesses(stack.folder);
    await running;
  });

  it("the next deployment continues from there", async () => {
    const unlocked = await stack.command(["cancel", "--yes"]);
    expect(unlocked.code, unlocked.output).toBe(0);
    await stack.program(program(1));
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(up.operations).toMatchObject({ "JobInvoke long": ["create"] });
    expect(await providers()).toEqual([]);
    const { endpoints, templates } = await service.holdings();
    expect([endpoints.length, templates.length]).toEqual([1, 1]);
    const destroy = await stack.destroy();
    expect(destroy.code, destroy.output).toBe(0);
  });
}
