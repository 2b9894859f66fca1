import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import type { Way } from "./way";

/** Two backends with the same project, stack and resource names on one account. */
export function twoProjectsThrough(way: Way): void {
  let service: EngineService;
  let shop: Stack;
  let office: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    shop = await way.createStack(service.environment);
    office = await way.createStack(service.environment);
  });
  afterAll(async () => {
    await shop.remove();
    await office.remove();
  });

  const program = (value: string): string => `
  const { ContainerRegistryAuth, NetworkVolume, Secret, ServerlessEndpoint, Template } = require("${way.module}");
  const token = new Secret("token", { value: "${value}" });
  const registry = new ContainerRegistryAuth("registry", { username: "robot", password: "${value}" });
  const volume = new NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1" });
  const template = new Template("worker", {
    imageName: "${image("echo")}", env: { TOKEN: token.reference }, containerRegistryAuthId: registry.id,
  });
  new ServerlessEndpoint("api", { templateId: template.id, networkVolumeId: volume.id, workersMax: 0 });
`;

  const listed = z.array(z.looseObject({ id: z.string(), name: z.string() }));
  /** Everything that the service holds. */
  async function held() {
    const { endpoints, volumes, templates, secrets } = await service.holdings();
    const auths = listed.parse(await service.rest("GET", "/containerregistryauth"));
    return [...endpoints, ...volumes, ...templates, ...secrets, ...auths];
  }
  const idsOf = async (stack: Stack): Promise<string[]> => (await stack.resources()).map(({ id = "" }) => id).sort();

  it("the second backend's up neither adopts nor changes objects of the first one", async () => {
    await shop.program(program("sesame-77a1"));
    const first = await shop.up();
    expect(first.code, first.output).toBe(0);
    const before = await held();
    expect(before).toHaveLength(5);

    await office.program(program("sesame-77a2"));
    const second = await office.up();
    expect(second.code, second.output).toBe(0);
    expect(new Set(Object.values(second.operations).flat())).toEqual(new Set(["create"]));
    const both = await held();
    expect(both).toHaveLength(10);
    expect(both).toEqual(expect.arrayContaining(before));
    expect([...(await idsOf(shop)), ...(await idsOf(office))].sort()).toEqual(both.map(({ id }) => id).sort());
  });

  it("the second backend's destroy deletes no object of the first one", async () => {
    const own = await idsOf(shop);
    const before = (await held()).filter(({ id }) => own.includes(id));
    const destroy = await office.destroy();
    expect(destroy.code, destroy.output).toBe(0);
    expect(await held()).toEqual(before);
    const refresh = await shop.refresh();
    expect(new Set(Object.values(refresh.operations).flat()), refresh.output).toEqual(new Set(["same"]));
    const last = await shop.destroy();
    expect(last.code, last.output).toBe(0);
    expect(await held()).toEqual([]);
  });
}
