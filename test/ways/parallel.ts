import { afterAll, beforeAll, expect, it } from "vitest";
import { dialect, restPaths } from "../support/dialect";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import type { Way } from "./way";

/** Resources of each of the four kinds. */
const each = 20;
/** Calls at once, by the setting; what is under way when the service says "too many" is at most this. */
const inFlight = 8;

/** Eighty resources with everything the engine may do at once. */
export function parallelThrough(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    const limit = { SERVERLESS_COMPUTE_MAX_IN_FLIGHT: String(inFlight) };
    stack = await way.createStack({ ...service.environment, ...limit });
    await stack.program(`
    const { NetworkVolume, Secret, ServerlessEndpoint, Template } = require("${way.module}");
    for (let i = 0; i < ${each}; i++) {
      const template = new Template("t" + i, { imageName: "${image("echo")}" });
      new ServerlessEndpoint("e" + i, { templateId: template.id, workersMax: 0 });
      new NetworkVolume("v" + i, { size: 10, dataCenterId: "EU-RO-1" });
      new Secret("s" + i, { value: "sesame-of-" + i });
    }
  `);
  });
  afterAll(() => stack.remove());

  const args = ["--parallel", "100"];
  /** Requests of each method and path, the ids left out. */
  const counted = (): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { method, path } of service.proxy.requests) {
      const what = `${method} ${path.split("/").slice(0, 3).join("/")}`;
      counts[what] = (counts[what] ?? 0) + 1;
    }
    return counts;
  };
  const made = async (): Promise<number[]> => {
    const { endpoints, volumes, templates, secrets } = await service.holdings();
    return [endpoints, volumes, templates, secrets].map((list) => new Set(list.map(({ name }) => name)).size);
  };

  it("are created by a request each and a list per kind, with no more calls at once than the setting allows", async () => {
    // Slow answers, so that more than the setting allows would be under way at once.
    service.proxy.inject({ method: "POST", path: restPaths.volumes }, { kind: "delay", ms: 400 }, each);
    const up = await stack.up({ args });
    expect(up.code, up.output).toBe(0);
    expect(await made()).toEqual([each, each, each, each]);
    expect(counted()).toEqual({
      [`GET ${restPaths.endpoints}`]: 1,
      [`GET ${restPaths.volumes}`]: 1,
      [`POST ${restPaths.endpoints}`]: each,
      [`POST ${restPaths.volumes}`]: each,
      // Templates and secrets, and their lists; in v2 the GPU catalog is read once.
      ...(dialect === "v1"
        ? { "POST /graphql": 2 * each + 2 }
        : {
            ...{ "GET /v2/catalog": 1, "GET /v2/templates": 1, "POST /v2/templates": each },
            ...{ "GET /v2/account": 1, "POST /v2/account": each },
          }),
    });
    expect(service.proxy.mostAtOnce()).toBeLessThanOrEqual(inFlight);
    expect(service.proxy.mostAtOnce()).toBeGreaterThan(1);
  });

  it("are refreshed by a list per kind, and in v2 the catalog", async () => {
    service.proxy.clear();
    const refresh = await stack.refresh({ args });
    expect(refresh.code, refresh.output).toBe(0);
    expect(Object.values(refresh.operations).flat()).toEqual(Array(4 * each).fill("same"));
    // A list serves for 2 s: a machine that takes longer for its part asks for each once more.
    const { requests } = service.proxy;
    const took = (requests.at(-1)?.at ?? 0) - (requests[0]?.at ?? 0);
    expect(requests.length).toBeLessThanOrEqual((dialect === "v1" ? 4 : 5) * (1 + Math.floor(took / 1500)));
  });

  it("are destroyed by a request each, templates by two: the first one reads the name that is the template's now", async () => {
    service.proxy.clear();
    const destroy = await stack.destroy({ args });
    expect(destroy.code, destroy.output).toBe(0);
    expect(await made()).toEqual([0, 0, 0, 0]);
    expect(service.proxy.requests).toHaveLength(5 * each);
    expect(service.proxy.mostAtOnce()).toBeLessThanOrEqual(inFlight);
  });

  it("all wait when the service says that it is too much, and start no herd afterwards", async () => {
    service.proxy.clear();
    service.proxy.inject({ method: "POST", path: restPaths.volumes }, { kind: "delay", ms: 0 }, each / 2);
    service.proxy.inject({ method: "POST", path: restPaths.volumes }, { kind: "status", status: 429, retryAfter: "1" });
    const up = await stack.up({ args });
    expect(up.code, up.output).toBe(0);
    expect(await made()).toEqual([each, each, each, each]);
    const refused = service.proxy.requests.findIndex(({ status }) => status === 429);
    expect(refused).toBeGreaterThan(0);
    // The refused one comes again, and so may those that were under way. Nobody else asks twice.
    expect(service.proxy.requests.length).toBeLessThanOrEqual(4 * each + 4 + inFlight);
    expect(service.proxy.mostAtOnce()).toBeLessThanOrEqual(inFlight);
    const destroy = await stack.destroy({ args });
    expect(destroy.code, destroy.output).toBe(0);
  });
}
