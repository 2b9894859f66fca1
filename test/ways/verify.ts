import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import { interruptAfter } from "../support/interruption";
import type { Run, Stack } from "../support/pulumi";
import type { Way } from "./way";

/** An endpoint that verifies each new version, with a template that is replaced on change. */
export function verifyThrough(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    stack = await way.createStack(service.environment);
  });
  afterAll(() => stack.remove());
  /** Id of the template whose version was verified last. */
  let verified = "";

  /** Writes the program with this template; the handler "echo" does the endpoint's job well, "fail" does not, "slow" never. */
  async function write(template: object): Promise<void> {
    await stack.program(`
    const { ServerlessEndpoint, Template } = require("${way.module}");
    const worker = new Template("worker", { ...${JSON.stringify(template)}, replaceOnChange: true });
    const verify = { input: { text: "pong", ms: 120000 }, expect: { output: { text: "pong" } }, timeout: 60 };
    new ServerlessEndpoint("api", { templateId: worker.id, workersMax: 1, verify });
  `);
    service.proxy.clear();
  }
  async function deploy(template: object, command: "up" | "preview" = "up"): Promise<Run> {
    await write(template);
    return stack[command]();
  }
  const good = { imageName: image("echo") };
  const broken = { imageName: image("fail") };
  const slow = { imageName: image("slow") };
  const bound = z.looseObject({ id: z.string(), name: z.string(), templateId: z.string() });
  const held = async () => {
    const { endpoints, templates } = await service.holdings();
    return { endpoint: bound.parse(endpoints[0]), templates: templates.map(({ id }) => id) };
  };
  /** Ids in state by type. */
  const state = async (type: string) => (await stack.resources()).filter((one) => one.type.endsWith(`:${type}`));
  const submissions = (): number => service.proxy.requests.filter(({ path }) => path.endsWith("/run")).length;
  const answer = async (): Promise<unknown> =>
    service.job("POST", (await held()).endpoint.id, "/runsync", { input: { text: "still there" } });

  it("a good version is deployed once a worker of it did the job", async () => {
    const up = await deploy(good);
    expect(up.code, up.output).toBe(0);
    expect(submissions()).toBe(1);
    verified = (await state("Template"))[0]?.id ?? "";
  });

  it("a Ctrl-C while a new one is verified cancels the job, and leaves the endpoint unverified with both templates", async () => {
    await write(slow);
    const up = await interruptAfter(service.proxy, stack.up, "GET", /\/status\//);
    expect(up.code).not.toBe(0);
    expect(up.output).toContain("was updated, but its verification was cut short");
    // The job has 60 s.
    expect(up.ended - up.interrupted, up.output).toBeLessThan(30_000);
    const after = await held();
    expect(after.templates).toHaveLength(2);
    expect(after.templates).toContain(verified);
    expect((await state("ServerlessEndpoint"))[0]?.outputs).toMatchObject({
      unverified: { before: { templateId: verified } },
    });
    const submitted = service.proxy.requests
      .find(({ path }) => path.includes("/status/"))
      ?.path.split("/")
      .at(-1);
    expect(await service.job("GET", after.endpoint.id, `/status/${submitted}`)).toMatchObject({ status: "CANCELLED" });
  });

  it("a broken one fails the deployment, the verified one is back and answers, and a preview shows the change again", async () => {
    const up = await deploy(broken);
    expect(up.code).not.toBe(0);
    const errors = up.diagnostics.filter(
      ({ about, severity }) => about.endsWith("Endpoint api") && severity === "error",
    );
    expect(errors.map(({ message }) => message).join("\n")).toMatch(
      /\S+ \(version 3\) failed its verification; \S+ keeps serving \(as version 4\), with templateId[^\n]*\n\s+job \S+ on endpoint "\w+" ended FAILED, expected COMPLETED/,
    );
    expect((await held()).templates).toHaveLength(3);
    const [endpoint] = await state("ServerlessEndpoint");
    expect(endpoint?.outputs).toMatchObject({ templateId: verified, version: 4 });
    expect(endpoint?.outputs).not.toHaveProperty("unverified");
    expect(await answer()).toMatchObject({ status: "COMPLETED", output: { text: "still there" } });
    const preview = await deploy(broken, "preview");
    expect(preview.code, preview.output).toBe(0);
    expect(preview.operations["ServerlessEndpoint api"]).toEqual(["update"]);
  });

  it("reverting the change creates the previous template again, verifies it and deletes the others, with a refresh as well", async () => {
    await write(good);
    const up = await stack.up({ args: ["--refresh"] });
    expect(up.code, up.output).toBe(0);
    expect(submissions()).toBe(1);
    const { templates } = await held();
    expect(templates).toEqual([expect.not.stringMatching(`^${verified}$`)]);
    expect((await state("Template")).map(({ id }) => id)).toEqual(templates);
    expect((await deploy(good, "preview")).operations).toEqual({
      "Template worker": ["same"],
      "ServerlessEndpoint api": ["same"],
    });
  });

  it("another good version is switched to, and the old template is deleted after it", async () => {
    const before = await held();
    const up = await deploy({ ...good, containerDiskInGb: 6 });
    expect(up.code, up.output).toBe(0);
    expect(submissions()).toBe(1);
    const after = await held();
    expect(after.endpoint.id).toBe(before.endpoint.id);
    expect(after.templates).toHaveLength(1);
    expect(after.templates).not.toEqual(before.templates);
    const destroy = await stack.destroy({ args: ["--refresh"] });
    expect(destroy.code, destroy.output).toBe(0);
    expect(await service.holdings()).toMatchObject({ endpoints: [], templates: [] });
  });
}
