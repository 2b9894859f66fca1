import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Run, Stack } from "../support/pulumi";
import { at, send } from "../support/raw-http";
import { type SteadyLoad, startLoad, tally } from "../support/steady-load";
import type { Way } from "./way";

const handler = fileURLToPath(new URL("../support/handlers/versioned.mjs", import.meta.url));

/** What is wrong with a broken image: it exits at its start, answers wrongly, or hangs in its jobs. */
type Breakage = "start" | "answer" | "hang";
const breakages: Breakage[] = ["start", "answer", "hang"];

/** Seconds that a broken version has to show that it works. */
const timeout = 8;

/** Versions that are rolled out under a steady load; `inShort` is how the one breaks that a run without FULL=1 has. */
export function rolloutsThrough(way: Way, inShort: Breakage): void {
  let service: EngineService;
  let stack: Stack;
  let load: SteadyLoad;
  beforeAll(async () => {
    service = await useEngineService({ images: { "acme/app": handler }, rateLimits: "off" });
    stack = await way.createStack(service.environment);
  });
  afterAll(() => stack.remove());

  /** A program whose endpoint runs a version of the image; each has a template of its own. */
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

  it("a good version is verified and takes over, while all jobs are answered", async () => {
    const first = await deploy(1);
    expect(first.code, first.output).toBe(0);
    load = startLoad(call);
    await expect.poll(() => load.ends.length, { timeout: 20_000 }).toBeGreaterThan(20);
    const second = await deploy(2);
    expect(second.code, second.output).toBe(0);
    expect(await answers()).toEqual(good(2));
    expect((await service.holdings()).templates).toHaveLength(1);
  });

  const broken = process.env["FULL"] ? breakages : [inShort];
  broken.forEach((breaks, index) => {
    const version = 3 + 2 * index;
    it(`a version that breaks at its ${breaks} fails the deployment in time, and the one before is back; its repair takes over`, async () => {
      const before = load.ends.length;
      const up = await deploy(version, breaks);
      expect(up.code, up.output).not.toBe(0);
      expect(up.output).toMatch(/failed its verification; version \d+ is back/);
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
