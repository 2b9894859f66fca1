import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Properties } from "../../provider/lifecycle/contract";
import { kinds } from "../../provider/resources";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { expectResponse, send } from "../support/raw-http";

const bench = await useLifecycleBench();
const { ServerlessEndpoint, Template } = kinds;

/** Flavours and virtual CPUs as programs write them, and the `cpu` list that REST v2 shows for them. */
const programs: [wanted: Properties, shown: string[]][] = [
  [{ cpuFlavorIds: ["cpu3c-4", "cpu5c-8"] }, ["cpu3c 4", "cpu5c 8"]],
  [{ cpuFlavorIds: ["cpu3c", "cpu5c-8"] }, ["cpu3c 2", "cpu5c 8"]],
  [{ cpuFlavorIds: ["cpu3c", "cpu5c-8"], vcpuCount: 4 }, ["cpu3c 4", "cpu5c 8"]],
  [{ cpuFlavorIds: ["cpu3c-4", "cpu5c-4"], vcpuCount: 2 }, ["cpu3c 4", "cpu5c 4"]],
  [{ cpuFlavorIds: ["cpu3c-2", "cpu3c-4"] }, ["cpu3c 2", "cpu3c 4"]],
  [{ cpuFlavorIds: ["cpu3c", "cpu5c"], vcpuCount: 4 }, ["cpu3c 4", "cpu5c 4"]],
];

let made = 0;
/** A CPU endpoint of REST v2 with its own template. */
async function make(wanted: Properties) {
  const name = naming(`cpu-${++made}`);
  const context = bench.context({}, "v2");
  const image = Template.check({}, { imageName: "acme/echo:1" }, name).inputs;
  const { id: templateId } = await Template.create(image, context);
  const all = { templateId, computeType: "CPU", workersMax: 0, ...wanted };
  const { inputs, failures } = ServerlessEndpoint.check({}, all, name);
  expect(failures).toEqual([]);
  return { context, inputs, ...(await ServerlessEndpoint.create(inputs, context)) };
}

const rest = async (method: string, id: string, json?: object): Promise<unknown> => {
  const key = bench.addresses.apiKey;
  const answer = await send(method, `${bench.proxy.origin}/v2/serverless/${id}`, { key, ...(json ? { json } : {}) });
  expectResponse(answer, 200);
  return answer.json;
};
const shape = z.object({ cpu: z.array(z.object({ id: z.string(), vcpuCount: z.number() })) });
const shownOf = async (id: string): Promise<string[]> =>
  shape.parse(await rest("GET", id)).cpu.map((flavor) => `${flavor.id} ${flavor.vcpuCount}`);

describe("virtual CPUs of each CPU flavour in REST v2", () => {
  test.each(programs)("%j is created as %j and has no drift", async (wanted, shown) => {
    const { id, inputs, outputs, context } = await make(wanted);
    expect(await shownOf(id)).toEqual(shown);
    const read = await ServerlessEndpoint.read(id, outputs, context);
    expect(read?.inputs).toMatchObject(wanted);
    expect(ServerlessEndpoint.diff(read?.outputs ?? {}, inputs, "v2")).toEqual([]);
  });

  test("a changed flavour is drift, and an update reverts it", async () => {
    const { id, inputs, outputs, context } = await make({ cpuFlavorIds: ["cpu3c-4", "cpu5c-8"] });
    const cpu = ["cpu3c", "cpu5c"].map((flavor) => ({ id: flavor, vcpuCount: 4 }));
    await rest("PATCH", id, { cpu });
    const read = await ServerlessEndpoint.read(id, outputs, context);
    expect(read?.inputs).toMatchObject({ cpuFlavorIds: ["cpu3c-4", "cpu5c-4"] });
    await ServerlessEndpoint.update(id, read?.outputs ?? {}, inputs, context);
    expect(await shownOf(id)).toEqual(["cpu3c 4", "cpu5c 8"]);
  });
});
