import { describe, expect, test } from "vitest";
import type { Properties } from "../../../../provider/engine/values";
import { kinds } from "../../../../provider/resources";
import { useLifecycleBench } from "../../../support/lifecycle-bench";
import { stringAt } from "../../../support/raw-http";

const bench = await useLifecycleBench();

async function volumes(count: number): Promise<string[]> {
  const created = Array.from({ length: count }, () =>
    bench.rest("POST", "/networkvolumes", { name: "v", size: 1, dataCenterId: "EU-RO-1" }),
  );
  return (await Promise.all(created)).map((response) => stringAt(response, "id"));
}
const olds: Properties = { name: "v", size: 1, dataCenterId: "EU-RO-1" };

describe("reads of one kind", () => {
  test("share a list for a short time even if they are not concurrent", async () => {
    const [first = "", second = "", third = ""] = await volumes(3);
    const context = bench.context();
    const sizeOf = async (id: string) => (await kinds.NetworkVolume.read(id, olds, context))?.inputs["size"];
    await sizeOf(first);
    await bench.clock.advance(1000);
    await sizeOf(second);
    expect(bench.drainRequests()).toEqual(["GET /v1/networkvolumes"]);
    await bench.rest("PATCH", `/networkvolumes/${third}`, { size: 5 });
    await bench.clock.advance(2000);
    expect(await sizeOf(third)).toBe(5);
  });

  test("list again after any change by this process, and after a failed list", async () => {
    const [id = ""] = await volumes(1);
    const context = bench.context();
    const read = async () => (await kinds.NetworkVolume.read(id, olds, context))?.inputs["size"];
    expect(await read()).toBe(1);
    await kinds.NetworkVolume.update(id, olds, { ...olds, size: 7 }, context);
    expect(await read()).toBe(7);
    await kinds.NetworkVolume.update(id, { ...olds, size: 7 }, { ...olds, size: 8 }, context);
    bench.proxy.inject({ method: "GET" }, { kind: "status", status: 500 }, 6);
    await expect(read()).rejects.toThrow("HTTP 500");
    expect(await read()).toBe(8);
  });

  test("do not treat an object as deleted because a list omits it", async () => {
    const [id = ""] = await volumes(1);
    const context = bench.context();
    const [existing, missing] = await Promise.all([
      kinds.NetworkVolume.read(id, olds, context),
      kinds.NetworkVolume.read("aaaaaaaaaa", olds, context),
    ]);
    expect(existing).toBeDefined();
    expect(missing).toBeUndefined();
    expect(bench.drainRequests()).toEqual(["GET /v1/networkvolumes", "GET /v1/networkvolumes/aaaaaaaaaa"]);
  });

  test("fail together, each with its own name", async () => {
    const ids = await volumes(2);
    bench.proxy.inject({ method: "GET" }, { kind: "status", status: 500 }, 20);
    const context = bench.context();
    const failures = await Promise.all(
      ids.map((id) => kinds.NetworkVolume.read(id, { ...olds, name: `v-${id}` }, context).catch(String)),
    );
    for (const [index, failure] of failures.entries()) expect(failure).toContain(`NetworkVolume "v-${ids[index]}": `);
  });

  test("of different clients do not share a list", async () => {
    const [id = ""] = await volumes(1);
    await Promise.all([bench.context(), bench.context()].map((context) => kinds.NetworkVolume.read(id, olds, context)));
    expect(bench.drainRequests()).toHaveLength(2);
  });
});
