import { gpuPools, gpuTypeIds } from "serverless-compute-api/catalog";
import { describe, expect, test } from "vitest";
import { freshName, useSharedService } from "../../../support/local-service";
import { at, expectResponse, stringAt } from "../../../support/raw-http";
import { messageOf } from "./resources-rig";

const rig = await useSharedService({ templateRelease: 0 });
const saveEndpoint = "mutation ($input: EndpointInput!) { saveEndpoint(input: $input) { id version gpuTypeIds } }";
const read = async (id: string) => (await rig.rest("GET", `/endpoints/${id}`)).json;

describe("a new endpoint is rejected", () => {
  test("with all of its faults, including one about two properties", async () => {
    const body = { templateId: 5, workersMin: 3, workersMax: 1 };
    const message = messageOf(await rig.rest("POST", "/endpoints", body));
    expect(message).toContain("templateId: 5 is not allowed; must be a string");
    expect(message).toContain("workersMax: 1 is not allowed; must be at least workersMin");
  });
});

describe("an update of an endpoint is rejected as a whole", () => {
  test("if workersMax would fall below the current workersMin", async () => {
    const id = await rig.endpoint({ workersMin: 2, workersMax: 4 });
    const response = await rig.rest("PATCH", `/endpoints/${id}`, { workersMax: 1, idleTimeout: 60 });
    expectResponse(response, 400);
    expect(messageOf(response)).toContain("workersMax: 1 is not allowed; must be at least workersMin");
    expect(await read(id)).toMatchObject({ workersMax: 4, idleTimeout: 5 });
  });

  test("if it names a missing template or volume", async () => {
    const id = await rig.endpoint();
    const template = await rig.rest("PATCH", `/endpoints/${id}`, { templateId: "nosuch" });
    expectResponse(template, 400, { message: 'templateId: template "nosuch" does not exist' });
    const volume = await rig.rest("PATCH", `/endpoints/${id}`, { networkVolumeIds: ["nosuch"] });
    expectResponse(volume, 400, { message: 'networkVolumeIds: network volume "nosuch" does not exist' });
  });

  test("if it changes computeType, which may be repeated", async () => {
    const id = await rig.endpoint({ computeType: "CPU" });
    const message = 'computeType: "GPU" is not allowed; must be "CPU"; it cannot be changed';
    expectResponse(await rig.rest("PATCH", `/endpoints/${id}`, { computeType: "GPU" }), 400, { message });
    expectResponse(await rig.rest("PATCH", `/endpoints/${id}`, { computeType: "CPU" }), 200, { computeType: "CPU" });
  });
});

describe("PATCH /endpoints/{id}", () => {
  test("with an empty string clears a volume and a CUDA version", async () => {
    const networkVolumeId = await rig.volume();
    const set = { networkVolumeId, minCudaVersion: "12.4" };
    const id = await rig.endpoint(set);
    expect(await read(id)).toMatchObject(set);
    const cleared = { networkVolumeId: "", minCudaVersion: "" };
    expectResponse(await rig.rest("PATCH", `/endpoints/${id}`, cleared), 200, { minCudaVersion: "" });
    expect(await read(id)).not.toHaveProperty("networkVolumeId");
    expectResponse(await rig.rest("DELETE", `/networkvolumes/${networkVolumeId}`), 204);
  });

  test.each([
    ["OFF", [true], "FLASHBOOT"],
    ["FLASHBOOT", [true], "FLASHBOOT"],
    ["FLASHBOOT", [false], "OFF"],
    ["PRIORITY_FLASHBOOT", [true], "PRIORITY_FLASHBOOT"],
    ["PRIORITY_FLASHBOOT", [false], "OFF"],
    ["PRIORITY_FLASHBOOT", [false, true], "FLASHBOOT"],
  ])("of an endpoint with %s: flashboot %j results in %s", async (flashboot, changes, result) => {
    const id = await rig.endpoint();
    await rig.v2("PATCH", `/serverless/${id}`, { flashboot });
    for (const isOn of changes) await rig.rest("PATCH", `/endpoints/${id}`, { flashboot: isOn });
    expect(await read(id)).toMatchObject({ flashboot: result !== "OFF", flashBootType: result });
    expectResponse(await rig.v2("GET", `/serverless/${id}`), 200, { flashboot: result });
  });

  test("without fields changes nothing", async () => {
    const id = await rig.endpoint();
    const before = await read(id);
    expectResponse(await rig.rest("PATCH", `/endpoints/${id}`, {}), 200);
    expect(await read(id)).toEqual(before);
  });
});

describe("saveEndpoint", () => {
  test("with a nested template creates both, and neither if one of them is invalid", async () => {
    const template = { name: freshName("inside"), imageName: "x:1", containerDiskInGb: 5, volumeInGb: 0 };
    const input = { name: freshName("endpoint"), template, workersMax: 0 };
    const wrong = await rig.graphql(saveEndpoint, { input: { ...input, idleTimeout: 0 } });
    expect(messageOf(wrong)).toContain("idleTimeout: 0 is not allowed; must be a whole number from 1 to 3600");
    expect((await rig.rest("GET", "/templates")).text).not.toContain(template.name);
    expectResponse(await rig.graphql(saveEndpoint, { input }), 200, { data: { saveEndpoint: { version: 1 } } });
    expect((await rig.rest("GET", "/templates")).text).toContain(template.name);
  });

  test("accepts null for an omitted field of the nested template", async () => {
    const template = { name: freshName("inside"), imageName: "x:1", containerDiskInGb: 5, volumeInGb: null, env: null };
    const input = { name: freshName("endpoint"), template, workersMax: 0, idleTimeout: null };
    expectResponse(await rig.graphql(saveEndpoint, { input }), 200, { data: { saveEndpoint: { version: 1 } } });
  });

  test("keeps fields that do not exist in GraphQL", async () => {
    const templateId = await rig.template();
    const cpu = { computeType: "CPU", cpuFlavorIds: ["cpu3c"], vcpuCount: 4 };
    const id = await rig.endpoint({ templateId, ...cpu });
    const response = await rig.graphql(saveEndpoint, { input: { id, name: "again", templateId } });
    expectResponse(response, 200, { data: { saveEndpoint: { id } } });
    expect(await read(id)).toMatchObject({ instanceIds: ["cpu3c-4-8"], name: "again", idleTimeout: 10 });
  });

  test("rejects an instance id with a part that is not a number", async () => {
    const input = { name: freshName("cpu"), templateId: await rig.template(), instanceIds: ["cpu3c-bogus"] };
    expect(messageOf(await rig.graphql(saveEndpoint, { input }))).toBe(
      'instanceIds.0: "cpu3c-bogus" is not allowed; must be <flavour>-<virtual CPUs>-<GB>, such as cpu3c-2-4',
    );
  });

  test("returns an instance once if its id is repeated, also in a shorter form", async () => {
    const instanceIds = ["cpu3c-2", "cpu5c-8-16", "cpu3c-2", "cpu3c-2-4", "cpu3c-2-8"];
    const input = { name: freshName("cpu"), templateId: await rig.template(), instanceIds, workersMax: 0 };
    const response = await rig.graphql(saveEndpoint, { input });
    const unique = { instanceIds: ["cpu3c-2", "cpu5c-8-16", "cpu3c-2-8"] };
    expect(await read(stringAt(response, "data", "saveEndpoint", "id"))).toMatchObject(unique);
  });

  const noType = 'must have the id of a GPU type after each "-"';
  const everyType = "must leave at least one GPU type";
  test.each([
    ["-", noType],
    ["ADA_24,-", noType],
    ["ADA_24,--NVIDIA L4", noType],
    ["ADA_24,-NVIDIA GeForce RTX 4090", everyType],
    ["ADA_24,- NVIDIA GeForce RTX 4090", everyType],
    ["NVIDIA L4,-NVIDIA L4", everyType],
    [gpuTypeIds.map((id) => `-${id}`).join(","), everyType],
  ])("rejects the exclusion in gpuIds %j", async (gpuIds, reason) => {
    const input = { name: freshName("gpu"), templateId: await rig.template(), gpuIds };
    expect(messageOf(await rig.graphql(saveEndpoint, { input }))).toContain(`is not allowed; ${reason}`);
  });

  test("returns gpuIds with only exclusions, which allow all other types of the pools", async () => {
    const input = { name: freshName("gpu"), templateId: await rig.template(), gpuIds: "-NVIDIA L4", workersMax: 0 };
    const id = stringAt(await rig.graphql(saveEndpoint, { input }), "data", "saveEndpoint", "id");
    const others = Object.values(gpuPools)
      .flat()
      .filter((type) => type !== "NVIDIA L4");
    expect([...(at(await read(id), "gpuTypeIds") as string[])].sort()).toEqual(others.sort());
    expect((await rig.v2("GET", `/serverless/${id}`)).json).toMatchObject({
      gpu: { pools: Object.keys(gpuPools), excludedTypes: ["NVIDIA L4"] },
    });
    const shown = await rig.graphql(`{ myself { endpoint(id: "${id}") { gpuIds } } }`);
    expect(at(shown.json, "data", "myself", "endpoint", "gpuIds")).toBe("-NVIDIA L4");
  });

  test.each(["12", "newest", "12.8.1", " 12.8"])("rejects the CUDA version %j in each API", async (version) => {
    const reason = `"${version}" is not allowed; must be <major>.<minor>, such as 12.8`;
    const fields = { name: freshName("cuda"), templateId: await rig.template() };
    for (const setting of [{ minCudaVersion: version }, { allowedCudaVersions: ["12.8", version] }]) {
      const message = `${Object.keys(setting)[0]}: ${reason}`;
      expect(messageOf(await rig.rest("POST", "/endpoints", { ...fields, ...setting }))).toBe(message);
      expect(messageOf(await rig.rest("PATCH", `/endpoints/${await rig.endpoint()}`, setting))).toBe(message);
      // GraphQL trims the versions of its text.
      if (version === " 12.8" && setting.allowedCudaVersions) continue;
      const input = { ...fields, ...setting, allowedCudaVersions: setting.allowedCudaVersions?.join(",") };
      expect(messageOf(await rig.graphql(saveEndpoint, { input }))).toBe(message);
    }
  });

  test("rejects the creation of load balancing endpoints", async () => {
    const input = { name: "lb", templateId: await rig.template(), type: "LB" };
    expect(messageOf(await rig.graphql(saveEndpoint, { input }))).toContain('type: "LB" is not allowed; must be "QB"');
  });

  describe.each([
    ["QUEUE", "QB", "LB", { type: "QUEUE_DELAY", queueDelay: 4 }],
    ["LOAD_BALANCER", "LB", "QB", { type: "REQUEST_COUNT", requestCount: 4 }],
  ])("keeps the type %s", (type, own, other, scaling) => {
    const ofType = async (): Promise<[id: string, templateId: string]> => {
      const gpu = { pools: ["ADA_24"] };
      const body = { name: freshName("typed"), image: "x:1", type, scaling, gpu, workers: { min: 0, max: 0 } };
      return [stringAt(await rig.v2("POST", "/serverless", body), "id"), await rig.template()];
    };

    test.each([
      ["omitted", {}],
      ["repeated", { type: own }],
    ])("if it is %s", async (_title, fields) => {
      const [id, templateId] = await ofType();
      const response = await rig.graphql(saveEndpoint, { input: { id, name: "again", templateId, ...fields } });
      expectResponse(response, 200, { data: { saveEndpoint: { id } } });
      expectResponse(await rig.v2("GET", `/serverless/${id}`), 200, { name: "again", type, scaling });
    });

    test("and rejects the other", async () => {
      const [id, templateId] = await ofType();
      const input = { id, name: "again", templateId, type: other, scalerType: "REQUEST_COUNT" };
      expect(messageOf(await rig.graphql(saveEndpoint, { input }))).toBe(
        `type: "${other}" is not allowed; must be "${own}"; it cannot be changed`,
      );
    });
  });

  test("and REST v1 reject a load balancing endpoint with another scaling than REQUEST_COUNT", async () => {
    const lb = {
      type: "LOAD_BALANCER",
      scaling: { type: "REQUEST_COUNT", requestCount: 1 },
      gpu: { pools: ["ADA_24"] },
    };
    const id = stringAt(await rig.v2("POST", "/serverless", { name: freshName("lb"), image: "x:1", ...lb }), "id");
    const change = { scalerType: "QUEUE_DELAY" };
    const message = 'scalerType: "QUEUE_DELAY" is not allowed; must be REQUEST_COUNT for a load balancing endpoint';
    expectResponse(await rig.rest("PATCH", `/endpoints/${id}`, change), 400, { message });
    const input = { id, name: "lb", templateId: await rig.template(), ...change };
    expect(messageOf(await rig.graphql(saveEndpoint, { input }))).toBe(message);
  });
});
