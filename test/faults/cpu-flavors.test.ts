import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Properties } from "../../provider/lifecycle/contract";
import { kinds } from "../../provider/resources";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { expectResponse, send } from "../support/raw-http";

const bench = await useLifecycleBench();
const { ServerlessEndpoint, Template } = kinds;

/** Flavours and virtual CPUs in programs, and the `cpu` list that REST v2 returns for them. */
const programs: [wanted: Properties, shown: string[]][] = [
  [{ cpuFlavorIds: ["cpu3c-4", "cpu5c-8"] }, ["cpu3c 4", "cpu5c 8"]],
  [{ cpuFlavorIds: ["cpu3c", "cpu5c-8"] }, ["cpu3c 2", "cpu5c 8"]],
  [{ cpuFlavorIds: ["cpu3c", "cpu5c-8"], vcpuCount: 4 }, ["cpu3c 4", "cpu5c 8"]],
  [{ cpuFlavorIds: ["cpu3c-4", "cpu5c-4"], vcpuCount: 2 }, ["cpu3c 4", "cpu5c 4"]],
  [{ cpuFlavorIds: ["cpu3c-2", "cpu3c-4"] }, ["cpu3c 2", "cpu3c 4"]],
  [{ cpuFlavorIds: ["cpu3c", "cpu5c"], vcpuCount: 4 }, ["cpu3c 4", "cpu5c 4"]],
];

let count = 0;
/** Creates a CPU endpoint of REST v2 with its own template. */
async function createEndpoint(desired: Properties) {
  const name = naming(`cpu-${++count}`);
  const context = bench.context({}, "v2");
  const image = Template.check({}, { imageName: "acme/echo:1" }, name).inputs;
  const { id: templateId } = await Template.create(image, context);
  const news = { templateId, computeType: "CPU", workersMax: 0, ...desired };
  const { inputs, failures } = ServerlessEndpoint.check({}, news, name);
  expect(failures).toEqual([]);
  return { context, inputs, ...(await ServerlessEndpoint.create(inputs, context)) };
}

const rest = async (method: string, id: string, json?: object): Promise<unknown> => {
  const key = bench.addresses.apiKey;
  const response = await send(method, `${bench.proxy.origin}/v2/serverless/${id}`, { key, ...(json ? { json } : {}) });
  expectResponse(response, 200);
  return response.json;
};
const shape = z.object({ cpu: z.array(z.object({ id: z.string(), vcpuCount: z.number() })) });
const reportedFlavors = async (id: string): Promise<string[]> =>
  shape.parse(await rest("GET", id)).cpu.map((flavor) => `${flavor.id} ${flavor.vcpuCount}`);

describe("virtual CPUs of each CPU flavour in REST v2", () => {
  test.each(programs)("%j is created as %j and has no drift", async (desired, reported) => {
    const { id, inputs, outputs, context } = await createEndpoint(desired);
    expect(await reportedFlavors(id)).toEqual(reported);
    const result = await ServerlessEndpoint.read(id, outputs, context);
    expect(result?.inputs).toMatchObject(desired);
    expect(ServerlessEndpoint.diff(result?.outputs ?? {}, inputs, "v2")).toEqual([]);
  });

  test("a changed flavour is drift, and an update reverts it", async () => {
    const { id, inputs, outputs, context } = await createEndpoint({ cpuFlavorIds: ["cpu3c-4", "cpu5c-8"] });
    const cpu = ["cpu3c", "cpu5c"].map((flavor) => ({ id: flavor, vcpuCount: 4 }));
    await rest("PATCH", id, { cpu });
    const result = await ServerlessEndpoint.read(id, outputs, context);
    expect(result?.inputs).toMatchObject({ cpuFlavorIds: ["cpu3c-4", "cpu5c-4"] });
    await ServerlessEndpoint.update(id, result?.outputs ?? {}, inputs, context);
    expect(await reportedFlavors(id)).toEqual(["cpu3c 4", "cpu5c 8"]);
  });
});
