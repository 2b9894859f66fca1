import { afterAll, beforeAll, expect, it } from "vitest";
import { dialect } from "../support/dialect";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import { interruptAfter } from "../support/interruption";
import type { Stack } from "../support/pulumi";
import type { Way } from "./way";

/** The engine kills what has not ended so long after a Ctrl-C, ms. */
const kill = 5000;

/** One Ctrl-C while something waits. */
export function cancellationThrough(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService({ templateRelease: 60_000 });
    stack = await way.createStack(service.environment);
  });
  afterAll(() => stack.remove());

  const program = (job: string): string => `
  const { JobInvoke, ServerlessEndpoint, Template } = require("${way.module}");
  const template = new Template("slow", { imageName: "${image("slow")}" });
  const endpoint = new ServerlessEndpoint("slow", { templateId: template.id, workersMax: 1 });
  ${job}
`;

  it("one Ctrl-C during a job cancels the job on the service at once, and ends before the engine kills what it started", async () => {
    await stack.program(
      program('new JobInvoke("long", { endpointId: endpoint.id, input: { ms: 120000 }, timeout: 300 });'),
    );
    const up = await interruptAfter(service.proxy, stack.up, "GET", /\/status\//);
    expect(up.code).not.toBe(0);
    const cancel = service.proxy.requests.find(({ path }) => path.includes("/cancel/"));
    expect((cancel?.at ?? Number.POSITIVE_INFINITY) - up.interrupted, up.output).toBeLessThan(2000);
    expect(up.ended - up.interrupted, up.output).toBeLessThan(kill);
    const [endpoint] = (await service.holdings()).endpoints;
    const jobId = service.proxy.requests
      .find(({ path }) => path.includes("/status/"))
      ?.path.split("/")
      .at(-1);
    expect(await service.job("GET", endpoint?.id ?? "", `/status/${jobId}`)).toMatchObject({ status: "CANCELLED" });
    expect((await stack.resources()).map(({ type }) => type.split(":").at(-1))).toEqual([
      "Template",
      "ServerlessEndpoint",
    ]);
  });

  it("the next deployment goes on from there", async () => {
    await stack.program(program('new JobInvoke("long", { endpointId: endpoint.id, input: { ms: 1 } });'));
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(up.operations).toMatchObject({ "Template slow": ["same"], "JobInvoke long": ["create"] });
  });

  // Endpoints of v2 have copies, so none holds its template.
  if (dialect === "v1")
    it("one Ctrl-C during a template's release ends before the engine kills what it started, and keeps the template in state", async () => {
      service.proxy.clear();
      // Endpoints go by REST: the first GraphQL call is the template's delete, and the service answers that it is in use.
      const destroy = await interruptAfter(service.proxy, stack.destroy, "POST", /\/graphql$/);
      expect(destroy.code, destroy.output).not.toBe(0);
      expect(destroy.ended - destroy.interrupted, destroy.output).toBeLessThan(kill);
      expect(await stack.resources()).toMatchObject([{ type: expect.stringContaining(":Template") }]);
    });
}
