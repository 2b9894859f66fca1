import { afterAll, beforeAll, expect, it } from "vitest";
import { restPaths } from "../support/dialect";
import { type EngineService, useEngineService } from "../support/engine-service";
import type { Stack } from "../support/pulumi";
import type { Way } from "./way";

/** An object that was made but not finished. */
export function unfinishedThrough(way: Way): void {
  let service: EngineService;
  let stack: Stack;
  beforeAll(async () => {
    service = await useEngineService();
    stack = await way.createStack(service.environment);
    await stack.program(`
    const { NetworkVolume } = require("${way.module}");
    exports.size = new NetworkVolume("models", { size: 10, dataCenterId: "EU-RO-1" }).size;
  `);
  });
  afterAll(() => stack.remove());

  const lists = { method: "GET", path: restPaths.volumes };

  it("an object that was made but not finished stays in state with its id and the reason", async () => {
    // The first create never arrives; after the second one, nobody can say any more whether there are two.
    service.proxy.inject({ method: "POST" }, { kind: "dropBeforeSend" });
    service.proxy.inject(lists, { kind: "delay", ms: 0 }, 4);
    service.proxy.inject(lists, { kind: "status", status: 500 }, 100);
    const up = await stack.up();
    expect(up.code).not.toBe(0);
    const [made] = (await service.holdings()).volumes;
    const [kept] = await stack.resources();
    expect(kept).toMatchObject({ id: made?.id, outputs: { size: 10 } });
    expect(kept?.initErrors?.join()).toContain("may have created a duplicate");
  });

  it("the next deployment finishes it", async () => {
    service.proxy.clear();
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
    expect(up.operations["NetworkVolume models"]).toEqual(["update"]);
    expect((await service.holdings()).volumes).toHaveLength(1);
    expect((await stack.resources())[0]?.initErrors).toBeUndefined();
  });

  it("it can be refreshed and destroyed, since its state still leads to the code", async () => {
    const refresh = await stack.refresh();
    expect(refresh.code, refresh.output).toBe(0);
    const destroy = await stack.destroy();
    expect(destroy.code, destroy.output).toBe(0);
    expect((await service.holdings()).volumes).toEqual([]);
  });
}
