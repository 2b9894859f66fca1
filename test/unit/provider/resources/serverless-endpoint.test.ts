import { beforeAll, describe, expect, test } from "vitest";
import type { Properties } from "../../../../provider/lifecycle/contract";
import { kinds } from "../../../../provider/resources";
import { propertiesIn, useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";
import { stringAt } from "../../../support/raw-http";

const bench = await useLifecycleBench({ deleteNeedsScaleDown: true });
const { ServerlessEndpoint } = kinds;

let templateId = "";
let otherTemplate = "";
let volumeId = "";
let otherVolumeId = "";
beforeAll(async () => {
  const template = (name: string) => bench.rest("POST", "/templates", { name, imageName: "a:1", isServerless: true });
  templateId = stringAt(await template("one"), "id");
  otherTemplate = stringAt(await template("two"), "id");
  const volume = (name: string) => bench.rest("POST", "/networkvolumes", { name, size: 10, dataCenterId: "EU-RO-1" });
  volumeId = stringAt(await volume("v"), "id");
  otherVolumeId = stringAt(await volume("w"), "id");
});

const inputsOf = (name: string, news: Properties = {}): Properties => {
  const { inputs, failures } = ServerlessEndpoint.check({}, { templateId, ...news }, naming(name));
  expect(failures).toEqual([]);
  return inputs;
};
const heldEndpoint = async (id: string): Promise<Properties> =>
  propertiesIn((await bench.rest("GET", `/endpoints/${id}`)).json);
const make = (name: string, news: Properties = {}) => ServerlessEndpoint.create(inputsOf(name, news), bench.context());

/** Every input that can change in place, with a value that is not its default. */
const everything = (): Properties => ({
  gpuTypeIds: ["NVIDIA L4", "NVIDIA A40"],
  gpuCount: 2,
  dataCenterIds: ["EU-RO-1", "US-KS-2"],
  allowedCudaVersions: ["12.4"],
  minCudaVersion: "12.1",
  networkVolumeId: volumeId,
  idleTimeout: 30,
  executionTimeoutMs: 60_000,
  flashboot: true,
  scalerType: "REQUEST_COUNT",
  scalerValue: 9,
  workersMin: 1,
  workersMax: 5,
});

describe("an endpoint that cannot be made or changed", () => {
  test("says which object refers to what does not exist", async () => {
    await expect(make("lost-dev", { templateId: "nosuchtemp" })).rejects.toThrow(
      /^ServerlessEndpoint "lost-dev": .*nosuchtemp/,
    );
  });

  test("is gone: an update says so", async () => {
    const olds = inputsOf("gone-dev");
    const news = { ...olds, workersMax: 1 };
    await expect(ServerlessEndpoint.update("aaaaaaaaaaaaaa", olds, news, bench.context())).rejects.toThrow(
      /^ServerlessEndpoint "gone-dev": it no longer exists: .*pulumi refresh/,
    );
  });
});

test("what was asked for is what the service holds", async () => {
  const inputs = inputsOf("full-dev", everything());
  const { id, outputs } = await ServerlessEndpoint.create(inputs, bench.context());
  const { __defaults: _leftOut, ...asked } = inputs;
  expect(await heldEndpoint(id)).toMatchObject(asked);
  expect(outputs).toEqual({ ...inputs, url: `${bench.proxy.origin}/v2/${id}`, version: 1 });
});

test("an endpoint of CPU workers is told nothing of GPUs", async () => {
  const { id } = await make("cpu-dev", { computeType: "CPU", cpuFlavorIds: ["cpu3c"], vcpuCount: 4 });
  expect(await heldEndpoint(id)).toMatchObject({ computeType: "CPU", instanceIds: ["cpu3c-4-8"] });
});

describe("an update", () => {
  test("changes each property in place and leaves what differs from the state alone", async () => {
    const { id, outputs } = await make("patch-dev");
    // Drift in a property that this update does not change.
    await bench.rest("PATCH", `/endpoints/${id}`, { idleTimeout: 77 });
    const { idleTimeout: _idle, ...changes } = everything();
    const news = inputsOf("renamed-dev", changes);
    const updated = await ServerlessEndpoint.update(id, outputs, news, bench.context());
    expect(await heldEndpoint(id)).toMatchObject({ ...changes, name: "renamed-dev", idleTimeout: 77 });
    expect(updated).toMatchObject({ ...news, version: 1 });
  });

  test("clears what was taken back", async () => {
    const { id, outputs } = await make("clear-dev", everything());
    const news = inputsOf("clear-dev");
    await ServerlessEndpoint.update(id, outputs, news, bench.context());
    const reading = await ServerlessEndpoint.read(id, {}, bench.context());
    const { __defaults: _leftOut, ...shown } = news;
    expect(reading?.inputs).toEqual(shown);
  });

  test("to another template counts as a new version", async () => {
    const { id, outputs } = await make("roll-dev");
    const news = { ...inputsOf("roll-dev"), templateId: otherTemplate };
    expect(await ServerlessEndpoint.update(id, outputs, news, bench.context())).toMatchObject({ version: 2 });
  });

  test("of nothing asks nothing", async () => {
    const { id, outputs } = await make("idle-dev");
    bench.asked();
    expect(await ServerlessEndpoint.update(id, outputs, inputsOf("idle-dev"), bench.context())).toEqual(outputs);
    expect(bench.asked()).toEqual([]);
  });
});

describe("a refresh", () => {
  test("of an untouched endpoint answers exactly what was deployed", async () => {
    for (const news of [{}, everything()]) {
      const { id, outputs } = await make("same-dev", news);
      const reading = await ServerlessEndpoint.read(id, outputs, bench.context());
      expect(reading).toEqual({ id, inputs: inputsOf("same-dev", news), outputs });
    }
  });

  /** Properties that are left to the service if the program does not set them. */
  const leftOut = ["minCudaVersion", "networkVolumeId", "executionTimeoutMs"];
  const setByProgram = (): Properties => ({
    ...{ gpuTypeIds: [], gpuCount: 1, dataCenterIds: [], allowedCudaVersions: [], idleTimeout: 5, flashboot: false },
    ...{ scalerType: "QUEUE_DELAY", scalerValue: 4, workersMin: 0, workersMax: 9 },
    ...{ minCudaVersion: "11.8", networkVolumeId: otherVolumeId, executionTimeoutMs: 90_000 },
  });

  test.each(Object.keys(everything()))("finds %s changed by somebody else", async (key) => {
    const { id, outputs } = await make("drift-dev", setByProgram());
    const value = everything()[key];
    await bench.rest("PATCH", `/endpoints/${id}`, { [key]: value });
    const reading = await ServerlessEndpoint.read(id, outputs, bench.context());
    expect(reading?.inputs[key]).toEqual(value);
    const changed = ServerlessEndpoint.diff(reading?.outputs ?? {}, inputsOf("drift-dev", setByProgram()));
    expect(changed.map(({ path }) => path[0])).toEqual([key]);
  });

  test.each(leftOut)("accepts any value of %s that the program does not set", async (key) => {
    const { id, outputs } = await make("left-out-dev");
    await bench.rest("PATCH", `/endpoints/${id}`, { [key]: everything()[key] });
    const reading = await ServerlessEndpoint.read(id, outputs, bench.context());
    expect(ServerlessEndpoint.diff(reading?.outputs ?? {}, inputsOf("left-out-dev"))).toEqual([]);
  });

  test("takes what the service adds for no drift", async () => {
    const { id, outputs } = await make("added-dev", { dataCenterIds: ["EU-RO-1", "US-KS-2"] });
    const added = { name: "added-dev-fb", dataCenterIds: ["US-KS-2", "EU-RO-1"], executionTimeoutMs: 600_000 };
    await bench.rest("PATCH", `/endpoints/${id}`, added);
    const reading = await ServerlessEndpoint.read(id, outputs, bench.context());
    expect(reading?.inputs).toEqual(inputsOf("added-dev", { dataCenterIds: ["EU-RO-1", "US-KS-2"] }));
  });

  test("of one that is gone answers nothing", async () => {
    expect(await ServerlessEndpoint.read("aaaaaaaaaaaaaa", inputsOf("gone-dev"), bench.context())).toBeUndefined();
  });
});

describe("a delete", () => {
  test("takes the workers down first where the service asks for it", async () => {
    const { id, outputs } = await make("busy-dev", { workersMax: 3 });
    bench.asked();
    await ServerlessEndpoint.delete(id, outputs, bench.context());
    expect(bench.asked()).toEqual(["DELETE", "PATCH", "DELETE"].map((method) => `${method} /v1/endpoints/${id}`));
    expect((await bench.rest("GET", `/endpoints/${id}`)).status).toBe(404);
  });

  test("is one call where it does not", async () => {
    const { id, outputs } = await make("quiet-dev", { workersMax: 0 });
    bench.asked();
    await ServerlessEndpoint.delete(id, outputs, bench.context());
    expect(bench.asked()).toEqual([`DELETE /v1/endpoints/${id}`]);
  });

  test("of one that is gone already is success", async () => {
    await ServerlessEndpoint.delete("aaaaaaaaaaaaaa", {}, bench.context());
  });
});
