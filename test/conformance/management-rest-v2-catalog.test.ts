import { describe, expect, test } from "vitest";
import { at, expectResponse, type RawResponse } from "../support/raw-http";
import { useTarget } from "../support/target";
import { uniqueName, useAccount } from "./support/account";
import { expectProblem, useRestV2 } from "./support/rest-v2";

const target = await useTarget();
const { call, make } = useRestV2(target, useAccount(target));
const available = "include=AVAILABILITY&product=SERVERLESS";
const a40 = `/catalog/gpus/${encodeURIComponent("NVIDIA A40")}`;
const a30 = `/catalog/gpus/${encodeURIComponent("NVIDIA A30")}`;

/** The ids in a list of a response. */
const ids = ({ json }: RawResponse, ...path: string[]): unknown[] => {
  const list = at(json, ...path);
  return Array.isArray(list) ? list.map((element) => at(element, "id")) : [];
};

describe("REST v2: the catalog", () => {
  test.each([
    ["gpus", "NVIDIA A40", { pool: "AMPERE_48", memory: 48, manufacturer: "NVIDIA", maxCount: { secure: 8 } }],
    ["cpus", "cpu3c", { vcpu: { min: 2, max: 32 }, ramGbPerVcpu: 2 }],
    ["datacenters", "EU-RO-1", { region: "EUROPE", networkVolumeTypes: expect.arrayContaining(["STANDARD"]) }],
  ])("GET /catalog/%s lists members, /{id} returns one, and 404 for an unknown id", async (list, id, fields) => {
    const key = list === "datacenters" ? "dataCenters" : list;
    const all = await call("GET", `/catalog/${list}`);
    expect(Object.keys(Object(all.json))).toEqual([key]);
    expect(at(all.json, key)).toContainEqual(expect.objectContaining({ id }));
    expectResponse(await call("GET", `/catalog/${list}/${encodeURIComponent(id)}`), 200, { id, ...fields });
    expectProblem(await call("GET", `/catalog/${list}/nosuch`), 404, "resource not found");
  });

  test("GPU types have a serverless price if the price list contains their pool", async () => {
    expect(at((await call("GET", a40)).json, "price")).toEqual({ secure: 0, community: 0, serverless: 1.224 });
    expect(at((await call("GET", a30)).json, "price")).toEqual({ secure: 0, community: 0 });
  });

  test("the availability of GPU types is for the named products", async () => {
    expect((await call("GET", "/catalog/gpus")).text).not.toContain("availability");
    const response = await call("GET", `/catalog/gpus?${available}&count=2&cloud=SECURE`);
    expect(at(response.json, "gpus")).toContainEqual(
      expect.objectContaining({ id: "NVIDIA A40", availability: "HIGH", dataCenters: expect.any(Array) }),
    );
    const poolless = await call("GET", `${a30}?${available}`);
    expectResponse(poolless, 200, { availability: "NONE" });
    expect(poolless.json).not.toHaveProperty("dataCenters");
    expectResponse(await call("GET", `${a30}?include=AVAILABILITY&product=POD,SERVERLESS`), 200, {
      availability: "HIGH",
    });
    expectResponse(await call("GET", `${a40}?${available}&count=9`), 200, { availability: "NONE" });
  });

  test("countryCodes filter data centres, and the list to the types available there", async () => {
    const response = await call("GET", `${a40}?${available}&countryCodes=RO,FR`);
    expect(ids(response, "dataCenters")).toEqual(["EU-FR-1", "EU-RO-1"]);
    expectResponse(await call("GET", `${a40}?${available}&countryCodes=AQ`), 200, { availability: "NONE" });
    expect((await call("GET", `/catalog/gpus?${available}&countryCodes=AQ`)).json).toEqual({ gpus: [] });
  });

  test("CUDA versions narrow the availability; AMD has none", async () => {
    const exact = await call("GET", `${a40}?${available}&cudaVersions=12.8,99.0`);
    expectResponse(exact, 200, { availability: "HIGH", cudaVersions: [{ version: "12.8", available: true }] });
    expectResponse(await call("GET", `${a40}?${available}&minCudaVersion=12`), 200, { availability: "HIGH" });
    expectResponse(await call("GET", `${a40}?${available}&minCudaVersion=99`), 200, { availability: "NONE" });
    const amd = `/catalog/gpus/${encodeURIComponent("AMD Instinct MI300X OAM")}?include=AVAILABILITY&product=POD`;
    expect((await call("GET", amd)).json).not.toHaveProperty("cudaVersions");
  });

  // Other invalid queries: rest-v2-generated.
  test.each([
    ["include=AVAILABILITY,AVAILABILITY&product=POD", "must be AVAILABILITY"],
    ["include=AVAILABILITY&product=POD,TPU", 'product.1: "TPU" is not allowed; must be "POD"'],
    [`${available}&countryCodes=Ro`, 'countryCodes.0: "Ro" is not allowed; must be two capital letters'],
    [`${available}&cudaVersions=12.8,12`, 'cudaVersions.1: "12" is not allowed; must be a version'],
    [`${available}&minCudaVersion=new`, 'minCudaVersion: "new" is not allowed; must be a version'],
  ])("GET /catalog/gpus?%s is 422 and names the value, also for a single type", async (query, text) => {
    const errors = [expect.stringContaining(text)];
    expectResponse(await call("GET", `/catalog/gpus?${query}`), 422, { errors });
    expectResponse(await call("GET", `${a40}?${query}`), 422, { errors });
  });

  test.each(["include", "regions", "networkVolumeTypes", "compliance"])(
    "GET /catalog/datacenters names an unknown value of %s",
    async (parameter) => {
      const response = await call("GET", `/catalog/datacenters?${parameter}=other`);
      const text = `${parameter}.0: "other" is not allowed; must be "`;
      expectResponse(response, 422, { errors: [expect.stringContaining(text)] });
    },
  );

  test.each(["gpus", "gpus/NVIDIA%20A40", "cpus", "cpus/cpu3c"])(
    "GET /catalog/%s is 400 with only one of include=AVAILABILITY and product",
    async (path) => {
      expectProblem(await call("GET", `/catalog/${path}?include=AVAILABILITY`), 400, "include: requires product");
      const alone = await call("GET", `/catalog/${path}?product=SERVERLESS`);
      expectProblem(alone, 400, "product: requires include=AVAILABILITY");
    },
  );

  test("the availability of CPU flavours requires a vcpuCount that is a power of two", async () => {
    expectResponse(await call("GET", `/catalog/cpus/cpu3c?${available}&vcpuCount=4`), 200, { availability: "HIGH" });
    expectResponse(await call("GET", `/catalog/cpus/cpu3c?${available}&vcpuCount=64`), 200, { availability: "NONE" });
    expectProblem(await call("GET", `/catalog/cpus?${available}&vcpuCount=6`), 400);
    expectProblem(await call("GET", `/catalog/cpus?${available}&vcpuCount=1`), 422);
  });

  test("data centres are filtered by region, volume type, compliance and network", async () => {
    const chosen = async (query: string) => ids(await call("GET", `/catalog/datacenters?${query}`), "dataCenters");
    expect(await chosen("regions=OCEANIA,ASIA")).toEqual(["AP-IN-1", "AP-JP-1", "OC-AU-1"]);
    expect(await chosen("networkVolumeTypes=STANDARD,HIGH_PERFORMANCE&regions=OCEANIA")).toEqual(["OC-AU-1"]);
    expect(await chosen("compliance=GDPR")).toEqual([]);
    expect(await chosen("globalNetwork=true")).toEqual([]);
    expect(await chosen("globalNetwork=false&regions=OCEANIA")).toEqual(["OC-AU-1"]);
    const include = "include=GPU_AVAILABILITY,CPU_AVAILABILITY";
    const one = await call("GET", `/catalog/datacenters/EU-RO-1?${include}`);
    const all = await call("GET", `/catalog/datacenters?${include}`);
    expect(at(all.json, "dataCenters")).toContainEqual(one.json);
    expect(at(one.json, "gpuAvailability")).toContainEqual({ id: "NVIDIA A40", name: "A40", availability: "HIGH" });
    expect(at(one.json, "cpuAvailability")).toContainEqual(expect.objectContaining({ id: "cpu3c" }));
  });

  test("public templates are those of the account, as community templates", async () => {
    const body = { name: uniqueName("public"), image: "conformance/none:1", public: true };
    const id = await make("/templates", body);
    expect(ids(await call("GET", "/catalog/templates?source=community"), "templates")).toContain(id);
    expect(ids(await call("GET", "/catalog/templates"), "templates")).not.toContain(id);
  });
});
