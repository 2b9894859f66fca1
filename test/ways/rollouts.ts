import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type EngineService, useEngineService } from "../support/engine-service";
import { interruptAfter, untilAnswered } from "../support/interruption";
import type { Run, Stack } from "../support/pulumi";
import { at, send } from "../support/raw-http";
import { stackProcesses } from "../support/stack-processes";
import { type SteadyLoad, startLoad, tally } from "../support/steady-load";
import type { Way } from "./way";

const handler = fileURLToPath(new URL("../support/handlers/versioned.mjs", import.meta.url));

/** Fault of a broken image: exits at start, returns wrong output, or hangs in its jobs. */
type Breakage = "start" | "answer" | "hang";
const breakages: Breakage[] = ["start", "answer", "hang"];

/** Seconds that a broken version has to show that it works. */
const timeout = 8;

/** Versions that are rolled out under a steady load. */
export function rolloutsThrough(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  let load: SteadyLoad;
  beforeAll(async () => {
    service = await useEngineService({ images: { "acme/app": handler }, rateLimits: "off" });
    stack = await way.createStack(service.environment);
  });
  afterAll(() => stack.remove());

  /** A program whose endpoint runs a version of the image, with one template per version. */
  const program = (version: number, breaks = ""): string => `
  const { ServerlessEndpoint, Template } = require("${way.module}");
  const template = new Template("app-v${version}", {
    imageName: "acme/app:${version}", env: { VERSION: "${version}", BREAKS: "${breaks}" },
  });
  new ServerlessEndpoint("app", {
    templateId: template.id, workersMin: 2, workersMax: 3, idleTimeout: 600,
    verify: {
      input: {}, expect: { output: { version: "${version}", works: true } }, timeout: ${breaks === "" ? 120 : timeout},
    },
  });
`;
  async function deploy(version: number, breaks?: Breakage): Promise<Run> {
    await stack.program(program(version, breaks));
    return stack.up();
  }
  async function call(method: string, path: string, json?: unknown) {
    const [endpoint] = (await service.holdings()).endpoints;
    const url = `${service.service.serverlessUrl}/v2/${endpoint?.id}${path}`;
    return send(method, url, { key: service.service.apiKey, ...(json === undefined ? {} : { json }) });
  }
  const answers = async (): Promise<unknown> => at((await call("POST", "/runsync", { input: {} })).json, "output");
  const good = (version: number) => ({ version: String(version), works: true, n: null });

  it("a good version is verified and rolled out while all jobs complete", async () => {
    const first = await deploy(1);
    expect(first.code, first.output).toBe(0);
    load = startLoad(call);
    await expect.poll(() => load.ends.length, { timeout: 20_000 }).toBeGreaterThan(20);
    const second = await deploy(2);
    expect(second.code, second.output).toBe(0);
    expect(await answers()).toEqual(good(2));
    expect((await service.holdings()).templates).toHaveLength(1);
  });

  breakages.forEach((breaks, index) => {
    const version = 3 + 2 * index;
    it(`a version that breaks at its ${breaks} fails the deployment in time and is rolled back, and its repair is rolled out`, async () => {
      const before = load.ends.length;
      const up = await deploy(version, breaks);
      expect(up.code, up.output).not.toBe(0);
      expect(up.output).toMatch(/failed its verification; \S+ \(version \d+\) keeps serving/);
      // The engine and its programs take their time, too; a rollout back has as long as one forth.
      expect(up.ended - up.started).toBeLessThan(2 * timeout * 1000 + 60_000);
      expect(await answers()).toEqual(good(version - 1));
      const preview = await stack.preview();
      expect(preview.operations, preview.output).toMatchObject({ "ServerlessEndpoint app": ["update"] });
      const those = tally(load.ends.slice(before));
      const wrong = Object.keys(those).filter((end) => end !== `COMPLETED ${version - 1}`);
      expect(wrong, JSON.stringify(those)).toEqual(breaks === "answer" ? [`COMPLETED ${version} wrong`] : []);

      const repaired = await deploy(version + 1);
      expect(repaired.code, repaired.output).toBe(0);
      expect(await answers()).toEqual(good(version + 1));
    });
  });

  /** Rolls out a version in a run that `cutOff` ends once the endpoint was switched; the next run has to end the rollout. */
  async function rollOutInTwoRuns(version: number, cutOff: () => Promise<void>): Promise<void> {
    await stack.program(program(version));
    service.proxy.clear();
    await cutOff();
    expect((await service.holdings()).templates).toHaveLength(2);
    const next = await stack.up();
    expect(next.code, next.output).toBe(0);
    expect(await answers()).toEqual(good(version));
    const { endpoints, templates } = await service.holdings();
    expect([endpoints.length, templates.length]).toEqual([1, 1]);
    expect((await stack.resources()).filter(({ outputs = {} }) => "unverified" in outputs)).toEqual([]);
  }
  const switching = ["PATCH", /^\/v[12]\/(endpoints|serverless)\//] as const;

  it("a rollout interrupted by Ctrl-C is completed by the next deployment", () =>
    rollOutInTwoRuns(20, async () => {
      const up = await interruptAfter(service.proxy, stack.up, ...switching);
      expect(up.code, up.output).not.toBe(0);
      expect(up.output).toContain("its verification was cut short");
    }));

  it("a rollout interrupted by kill -9 of all its processes is completed by the next deployment", () =>
    rollOutInTwoRuns(21, async () => {
      const running = stack.up();
      await untilAnswered(service.proxy, running, ...switching);
      for (const { pid } of await stackProcesses(stack.folder)) process.kill(pid, "SIGKILL");
      expect((await running).code).not.toBe(0);
      const unlocked = await stack.command(["cancel", "--yes"]);
      expect(unlocked.code, unlocked.output).toBe(0);
    }));

  it("no job of the load failed or was lost", async () => {
    const ends = await load.stop();
    const counts = tally(ends);
    const longest = Math.max(...ends.map(({ took }) => took));
    console.info(`${ends.length} jobs, the longest took ${longest} ms: ${JSON.stringify(counts)}`);
    expect(Object.keys(counts).filter((end) => !end.startsWith("COMPLETED"))).toEqual([]);
    const destroy = await stack.destroy();
    expect(destroy.code, destroy.output).toBe(0);
  });
}
