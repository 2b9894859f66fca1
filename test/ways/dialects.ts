import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Dialect } from "serverless-compute-api";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Run, RunOptions, Stack } from "../support/pulumi";
import type { Way } from "./way";

const versions = [1, 2, 3, 4] as const;
type Version = (typeof versions)[number];

/** One stack that moves between REST v1 and v2, with its template changed by either in between. */
export function dialectsThrough(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  let handlers = "";
  beforeAll(async () => {
    handlers = await mkdtemp(join(tmpdir(), "version-handlers-"));
    // An image's handler returns the version that it is.
    const image = async (version: Version): Promise<[string, string]> => {
      const handler = join(handlers, `version-${version}.mjs`);
      await writeFile(handler, `export default () => ${version};\n`);
      return [`acme/version:${version}`, handler];
    };
    service = await useEngineService({ images: Object.fromEntries(await Promise.all(versions.map(image))) });
    stack = await way.createStack(service.environment);
  });
  afterAll(async () => {
    await stack.remove();
    await rm(handlers, { recursive: true, force: true });
  });

  /** A template, an endpoint of it with a volume, and such ones as are `added`. */
  const program = (version: Version, added: string[] = []): string => `
  const { NetworkVolume, Secret, ServerlessEndpoint, Template } = require("${way.module}");
  const token = new Secret("token", { value: "sesame-4d07" });
  const template = new Template("worker", {
    imageName: "acme/version:${version}", env: { TOKEN: token.reference, VERSION: "${version}" }, dockerArgs: "--a b",
  });
  const volume = new NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1" });
  const base = { templateId: template.id, workersMax: 1, gpuTypeIds: ["NVIDIA L4"] };
  new ServerlessEndpoint("first", { ...base, networkVolumeId: volume.id });
  for (const name of ${JSON.stringify(added)}) new ServerlessEndpoint(name, base);
`;
  const by = (dialect: Dialect, args: string[] = []): RunOptions => ({
    env: { SERVERLESS_COMPUTE_BASE_URL: `${service.proxy.origin}/${dialect}` },
    args,
  });
  const changed = ({ operations }: Run): [string, string[]][] =>
    Object.entries(operations).filter(([, done]) => done.join() !== "same");

  /** A preview and a deployment that change nothing without a request, and a refresh that agrees. */
  async function expectTheSameTo(dialect: Dialect): Promise<void> {
    service.proxy.clear();
    for (const verb of ["preview", "up"] as const) {
      const run = await stack[verb](by(dialect, ["--expect-no-changes"]));
      expect(run.code, run.output).toBe(0);
    }
    expect(service.proxy.requests).toEqual([]);
    const refresh = await stack.refresh(by(dialect, ["--expect-no-changes"]));
    expect(refresh.code, refresh.output).toBe(0);
    expect(changed(refresh)).toEqual([]);
  }

  /** Output of a job on each endpoint: the version that ran it. */
  async function running(): Promise<unknown[]> {
    const { endpoints } = await service.holdings();
    return Promise.all(endpoints.map(({ id }) => service.job("POST", id, "/runsync", { input: {} })));
  }
  const completed = (count: number, version: Version): unknown[] =>
    Array(count).fill(expect.objectContaining({ status: "COMPLETED", output: version }));

  async function deploy(dialect: Dialect, text: string, changes: Record<string, string[]>): Promise<void> {
    await stack.program(text);
    const up = await stack.up(by(dialect));
    expect(up.code, up.output).toBe(0);
    expect(Object.fromEntries(changed(up))).toEqual(changes);
  }

  it("made by v1, it is the same to v2 and to v1 again, without a request", async () => {
    await stack.program(program(1));
    const up = await stack.up(by("v1"));
    expect(up.code, up.output).toBe(0);
    expect(await running()).toEqual(completed(1, 1));
    await expectTheSameTo("v2");
    await expectTheSameTo("v1");
  });

  const all = ["second", "third"];

  it("v2 adds two endpoints of the template, and it is the same to v1", async () => {
    const created = Object.fromEntries(all.map((name) => [`ServerlessEndpoint ${name}`, ["create"]]));
    await deploy("v2", program(1, all), created);
    expect(await running()).toEqual(completed(3, 1));
    await expectTheSameTo("v1");
  });

  it.each<[Dialect, Version, Dialect]>([
    ["v2", 2, "v1"],
    ["v1", 3, "v2"],
    ["v2", 4, "v1"],
  ])(
    "%s updates the template alone, the workers of every endpoint run version %d, and it is the same to %s",
    async (dialect, version, other) => {
      await deploy(dialect, program(version, all), { "Template worker": ["update"] });
      expect(await running()).toEqual(completed(3, version));
      await expectTheSameTo(other);
    },
  );

  it("is destroyed by v2 with nothing left", async () => {
    const destroy = await stack.destroy(by("v2"));
    expect(destroy.code, destroy.output).toBe(0);
    expect(await service.holdings()).toEqual({ endpoints: [], volumes: [], templates: [], secrets: [] });
  });
}
