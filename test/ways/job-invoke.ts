import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Run, Stack } from "../support/pulumi";
import type { Way } from "./way";

/** Jobs that go well and wrong. */
export function jobInvokeThrough(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  /** Endpoint ids by handler. */
  const endpoints: Record<string, string> = {};
  beforeAll(async () => {
    service = await useEngineService();
    stack = await way.createStack(service.environment);
    for (const handler of ["echo", "fail", "slow"] as const) {
      const created = z.looseObject({ id: z.string() });
      const template = { name: handler, imageName: image(handler), isServerless: true, volumeInGb: 0 };
      const { id: templateId } = created.parse(await service.rest("POST", "/templates", template));
      const endpoint = await service.rest("POST", "/endpoints", { name: handler, templateId, workersMax: 1 });
      endpoints[handler] = created.parse(endpoint).id;
    }
  });
  afterAll(() => stack.remove());

  /** Deploys one JobInvoke called "smoke" on the endpoint of a handler. */
  async function deploy(handler: string, args: object, command: "up" | "preview" = "up"): Promise<Run> {
    const all = { endpointId: endpoints[handler] ?? handler, ...args };
    await stack.program(`
    const { JobInvoke } = require("${way.module}");
    exports.output = new JobInvoke("smoke", ${JSON.stringify(all)}).output;
  `);
    service.proxy.clear();
    return stack[command]();
  }

  const submissions = (): number => service.proxy.requests.filter(({ path }) => /\/run(sync)?$/.test(path)).length;
  const complaint = ({ diagnostics }: Run): string =>
    diagnostics
      .filter(({ about, severity }) => about === "JobInvoke smoke" && severity === "error")
      .map(({ message }) => message)
      .join("\n---\n");

  describe("a job that fails fails the deployment", () => {
    it("when the handler throws: status, error text, health and what to do", async () => {
      const up = await deploy("fail", { input: { message: "no such model" } });
      expect(up.code).not.toBe(0);
      expect(complaint(up)).toMatch(
        /^job \S+ on endpoint "\w+" ended FAILED, expected COMPLETED\nerror: .*no such model[\s\S]*\nendpoint: jobs .* 1 failed.*workers .*\nThe endpoint's logs have the details\..*runs the job again\.$/,
      );
    });

    it("when the output is not the expected one: where it differs", async () => {
      const up = await deploy("echo", { input: { text: "pang", n: 1 }, expect: { output: { text: "pong" } } });
      expect(up.code).not.toBe(0);
      expect(complaint(up)).toMatch(
        /^job \S+ on endpoint "\w+" ended COMPLETED, but its output is not what was expected\noutput\.text: expected "pong", got "pang"\n/,
      );
    });

    it("when there is no such endpoint", async () => {
      const up = await deploy("nowhere", { input: {} });
      expect(up.code).not.toBe(0);
      expect(complaint(up)).toMatch(/^endpoint "nowhere" is unknown to the service .*Check endpointId/);
    });

    it("when it takes too long, and it is cancelled on the service", async () => {
      const id = endpoints["slow"] ?? "";
      // A worker that is up takes the job at once, where one that has to start may need longer than the job has.
      await service.rest("PATCH", `/endpoints/${id}`, { workersMin: 1 });
      await expect.poll(() => service.job("GET", id, "/health")).toMatchObject({ workers: { idle: 1 } });
      const up = await deploy("slow", { input: { ms: 60_000 }, timeout: 2 });
      expect(up.code).not.toBe(0);
      expect(complaint(up)).toMatch(
        /^job \S+ on endpoint "\w+" was still IN_PROGRESS after 2 s; it was cancelled\nendpoint: jobs .*\n.*Raise timeout/,
      );
      const cancel = service.proxy.requests.find(({ path }) => path.includes("/cancel/"));
      const jobId = cancel?.path.split("/").at(-1);
      expect(await service.job("GET", id, `/status/${jobId}`)).toMatchObject({
        status: "CANCELLED",
      });
    });
  });

  it("never runs in a preview", async () => {
    const preview = await deploy("echo", { input: { text: "pong" } }, "preview");
    expect(preview.code, preview.output).toBe(0);
    expect(service.proxy.requests).toEqual([]);
  });

  it("a deployment after a failed one runs the job again, and goes on with its output", async () => {
    const up = await deploy("echo", { input: { text: "pong" }, expect: { output: { text: "pong" } } });
    expect(up.code, up.output).toBe(0);
    expect(submissions()).toBe(1);
    const [job] = await stack.resources();
    expect(job?.outputs).toMatchObject({ status: "COMPLETED", output: { text: "pong" }, jobId: job?.id });
  });

  it("runs again when a trigger changes, and every time until it goes well", async () => {
    const args = { input: { message: "not yet" }, triggers: ["2"] };
    expect((await deploy("fail", args)).code).not.toBe(0);
    expect((await deploy("fail", args)).code).not.toBe(0);
    expect(submissions()).toBe(1);
    const up = await deploy("echo", { input: { text: "pong" }, triggers: ["2"], mode: "sync" });
    expect(up.code, up.output).toBe(0);
    expect(service.proxy.requests.filter(({ path }) => path.endsWith("/runsync"))).toHaveLength(1);
  });

  it("destroying it touches nothing", async () => {
    service.proxy.clear();
    const destroy = await stack.destroy();
    expect(destroy.code, destroy.output).toBe(0);
    expect(service.proxy.requests).toEqual([]);
  });
}
