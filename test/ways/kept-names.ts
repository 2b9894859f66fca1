import { afterAll, beforeAll, expect, it } from "vitest";
import { fingerprinted } from "../support/default-names";
import { type EngineService, image, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import type { Way } from "./way";

/** Names in state: generated names of version 0.1.0 had no suffix. */
export function keptNamesThrough(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    stack = await way.createStack(service.environment);
  });
  afterAll(() => stack.remove());

  interface Parts {
    /** Uses the default names of 0.1.0, as in its state. */
    named?: boolean;
    /** Name of the volume's resource, and the one that it had before. */
    volume?: [name: string, alias: string];
    dataCenterId?: string;
    isServerless?: boolean;
    value?: string;
  }

  const program = (parts: Parts): string => {
    const {
      named = false,
      volume: [volume, alias] = ["models", "models"],
      dataCenterId = "EU-RO-1",
      value = "sesame",
    } = parts;
    const name = (text: string): string => (named ? `name: "${text}",` : "");
    return `
  const { NetworkVolume, Secret, Template } = require("${way.module}");
  const token = new Secret("token", { ${name("token-dev")} value: "${value}" });
  new NetworkVolume("${volume}", { ${name("models-dev")} size: 10, dataCenterId: "${dataCenterId}" }, { aliases: [{ name: "${alias}" }] });
  new Template("worker", {
    ${name("worker-dev")} imageName: "${image("echo")}", env: { TOKEN: token.reference }, isServerless: ${parts.isServerless ?? true},
  });
`;
  };

  const names = async () => {
    const { secrets, volumes, templates } = await service.holdings();
    return { secrets, volumes, templates };
  };
  const old = {
    secrets: [{ name: "token-dev" }],
    volumes: [{ name: "models-dev" }],
    templates: [{ name: "worker-dev" }],
  };

  /** Deploys, which must change and ask nothing. */
  async function expectNothingToDo(parts: Parts): Promise<void> {
    await stack.program(program(parts));
    service.proxy.clear();
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(new Set(Object.values(up.operations).flat()), up.output).toEqual(new Set(["same"]));
    expect(service.proxy.requests).toEqual([]);
  }

  it("an upgrade from 0.1.0 renames nothing", async () => {
    await stack.program(program({ named: true }));
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(await names()).toMatchObject(old);
    await expectNothingToDo({});
  });

  it("neither an alias nor pulumi state rename renames the object", async () => {
    await expectNothingToDo({ volume: ["storage", "models"] });
    const urn = (await stack.resources()).find(({ type }) => type.endsWith(":NetworkVolume"))?.urn ?? "";
    const renamed = await stack.command(["state", "rename", urn, "disks", "--yes"]);
    expect(renamed.code, renamed.output).toBe(0);
    await expectNothingToDo({ volume: ["disks", "disks"] });
    expect(await names()).toMatchObject(old);
  });

  it("an update in place keeps the name", async () => {
    await stack.program(program({ volume: ["disks", "disks"], value: "open sesame" }));
    const up = await stack.up();
    expect(up.operations, up.output).toMatchObject({ "Secret token": ["update"], "NetworkVolume disks": ["same"] });
    expect(await names()).toMatchObject(old);
  });

  it("a replacement is created first, under a generated name", async () => {
    const changed = { value: "open sesame", dataCenterId: "US-KS-2", isServerless: false };
    await stack.program(program({ ...changed, volume: ["disks", "disks"] }));
    const preview = await stack.command(["preview", "--json"]);
    for (const name of ["disks", "worker"])
      expect(preview.output).toMatch(new RegExp(`"name": "${name}-dev-[0-9a-f]{7}"`));
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(up.operations).toEqual({
      "Secret token": ["same"],
      "NetworkVolume disks": ["create-replacement", "replace", "delete-replaced"],
      "Template worker": ["create-replacement", "replace", "delete-replaced"],
    });
    expect(await names()).toMatchObject({
      secrets: [{ name: "token-dev" }],
      volumes: [{ name: fingerprinted("disks-dev") }],
      templates: [{ name: fingerprinted("worker-dev") }],
    });
    const destroy = await stack.destroy();
    expect(destroy.code, destroy.output).toBe(0);
  });
}
