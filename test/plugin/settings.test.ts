import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import { pluginWay } from "./support/way";

let service: EngineService;
let stack: Stack;
beforeAll(async () => {
  service = await useEngineService();
  stack = await pluginWay.createStack(service.environment);
});
afterAll(() => stack.remove());

const volumes = 6;
/** Volumes of the default provider, or of an explicit one with `settings`. */
const program = (settings?: object): string => `
  const { NetworkVolume, Provider } = require("${pluginWay.module}");
  const provider = ${settings ? `new Provider("own", ${JSON.stringify(settings)})` : "undefined"};
  for (let i = 0; i < ${volumes}; i++) {
    new NetworkVolume("models-" + i, { size: 10, dataCenterId: "EU-RO-1" }, { provider });
  }
`;

/** Takes a key out of the stack's config again, whatever it was set to. */
const unset = (key: string) => stack.command(["config", "rm", `serverless-compute:${key}`]);

describe("settings of the stack's config", () => {
  it("may be numbers", async () => {
    await stack.program(program());
    await stack.command(["config", "set", "serverless-compute:maxInFlight", "1"]);
    await stack.command(["config", "set", "serverless-compute:callLimit", "60.5"]);
    // Slow responses expose any concurrency above the limit.
    service.proxy.inject({ method: "POST" }, { kind: "delay", ms: 50 }, volumes);
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect((await service.holdings()).volumes).toHaveLength(volumes);
    expect(service.proxy.mostAtOnce()).toBe(1);
  });

  it("that do not do are told at preview, all at once, before anything is asked", async () => {
    await stack.command(["config", "set", "serverless-compute:callLimit", "soon"]);
    await stack.command(["config", "set", "serverless-compute:baseUrl", "localhost/v1"]);
    service.proxy.clear();
    const preview = await stack.preview();
    expect(preview.code).not.toBe(0);
    expect(preview.output).toContain(
      'serverless-compute:callLimit (or SERVERLESS_COMPUTE_CALL_LIMIT) is "soon": must be seconds, more than 0',
    );
    expect(preview.output).toContain(
      'serverless-compute:baseUrl (or SERVERLESS_COMPUTE_BASE_URL) is "localhost/v1": it must be a URL such as',
    );
    expect(service.proxy.requests).toEqual([]);
    for (const key of ["callLimit", "baseUrl", "maxInFlight"]) await unset(key);
  });

  it("are judged where they come from the environment, too", async () => {
    const preview = await stack.preview({ env: { SERVERLESS_COMPUTE_MAX_IN_FLIGHT: "many" } });
    expect(preview.code).not.toBe(0);
    expect(preview.output).toContain('SERVERLESS_COMPUTE_MAX_IN_FLIGHT) is "many": must be a whole number, 1 or more');
  });
});

describe("arguments of an explicit provider", () => {
  it("may be numbers, as those of the schema are", async () => {
    await stack.program(program({ callLimit: 30, maxInFlight: 2, templateReleaseLimit: 1.5 }));
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    const again = await stack.up();
    expect(again.code, again.output).toBe(0);
    expect(new Set(Object.values(again.operations).flat()), again.output).toEqual(new Set(["same"]));
  });

  it("that do not do are told at preview", async () => {
    await stack.program(program({ callLimit: 0, maxInflight: 2 }));
    const preview = await stack.preview();
    expect(preview.code).not.toBe(0);
    expect(preview.output).toContain('serverless-compute:callLimit (or SERVERLESS_COMPUTE_CALL_LIMIT) is "0"');
    expect(preview.output).toContain('maxInflight: unknown setting; did you mean "maxInFlight"?');
  });

  it("change without a replacement", async () => {
    const before = await service.holdings();
    await stack.program(program({ callLimit: "45", maxInFlight: 2 }));
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(up.operations["NetworkVolume models-0"]).toEqual(["same"]);
    expect(Object.values(up.operations).flat().join()).not.toMatch(/replace/);
    expect(await service.holdings()).toEqual(before);
    const destroy = await stack.destroy();
    expect(destroy.code, destroy.output).toBe(0);
  });
});
