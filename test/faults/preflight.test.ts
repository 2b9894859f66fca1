import { gpuTypeIds } from "serverless-compute-api/catalog";
import { describe, expect, test } from "vitest";
import { createProvider } from "../../provider/dynamic/provider";
import { Unknown } from "../../provider/engine/values";
import type { ProviderProcess } from "../../provider/framework/process";
import { resourceCalls } from "../../provider/plugin/resource-calls";
import { kinds } from "../../provider/resources";
import type { PreflightMode } from "../../provider/settings/settings";
import { configuredProcess } from "../support/configured-process";
import { dialect } from "../support/dialect";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { engineProperties, roundTrip } from "../support/property-sets";
import { stringAt } from "../support/raw-http";
import type { Fault } from "../support/recording-proxy";
import { asSecret } from "../unit/provider/dynamic/box";

const l4 = "NVIDIA L4";
const a40 = "NVIDIA A40";
const bench = await useLifecycleBench({
  templateRelease: 0,
  runtime: "none",
  stock: { [`${l4}@EU-RO-1`]: "NONE", [a40]: "NONE" },
  workerQuota: 20,
});
const reads = {
  v1: ["POST /graphql", "POST /graphql"],
  v2: ["GET /v2/account/limits", "GET /v2/catalog/gpus"],
}[dialect];

/** The plugin's checks in one deployment, and the warnings that the engine receives. */
function deployment(mode: PreflightMode, overrides: Partial<ProviderProcess> = {}) {
  const { clients, clock, settings } = bench.context();
  const warnings: string[] = [];
  const host: ProviderProcess = {
    ...configuredProcess({ dialect, preflight: mode }),
    connect: () => ({ clients, settings }),
    clock,
    log: { progress: () => {}, warning: async (urn, text) => void warnings.push(`${urn.split("::").at(-1)} ${text}`) },
    ...overrides,
  };
  const calls = resourceCalls(host, kinds);
  const urnOf = (kind: string, name: string) => `urn:pulumi:dev::shop::serverless-compute:index:${kind}::${name}`;
  return {
    host,
    warnings,
    async check(news: object, olds: object = {}, name = "chat") {
      const all = { templateId: "template", ...news };
      const response = await calls.check({
        urn: urnOf("ServerlessEndpoint", name),
        olds: engineProperties(olds),
        news: engineProperties(all),
        randomSeed: undefined,
        autonaming: undefined,
      });
      return { failures: response.failures ?? [], inputs: roundTrip(response.inputs).properties };
    },
  };
}

const requestsSent = (): string[] => bench.drainRequests().sort();

describe(`preflight in dialect ${dialect}`, () => {
  test("off, the default, sends no request", async () => {
    const { check, warnings } = deployment("off");
    expect((await check({ gpuTypeIds: [a40], workersMax: 50 })).failures).toEqual([]);
    expect([warnings, requestsSent()]).toEqual([[], []]);
  });

  test("sends one request for the stock and one for the quota, for any number of endpoints", async () => {
    const { check, warnings } = deployment("warn");
    const names = Array.from({ length: 30 }, (_, index) => `chat-${index}`);
    const withoutPreflight = deployment("off");
    for (const name of names) {
      const news = { name, gpuTypeIds: [a40], workersMax: 1 };
      expect(await check(news, {}, name), "inputs, and so the state").toEqual(
        await withoutPreflight.check(news, {}, name),
      );
    }
    expect(requestsSent()).toEqual(reads);
    const ofStock = (name: string) => `${name} gpuTypeIds: NVIDIA A40 has no stock in any data centre`;
    const beyond = names.slice(20).map((name) => `${name} workersMax: 1 requested, 20 of 20 already allocated`);
    expect(warnings.filter((text) => text.includes("workersMax"))).toEqual(beyond);
    expect(warnings.filter((text) => text.includes("stock"))).toEqual(names.map(ofStock));
  });

  test("reports the same for dynamic resources", async () => {
    const { host, warnings } = deployment("warn");
    const __urn = "urn:pulumi:dev::shop::pulumi-nodejs:dynamic/serverless:ServerlessEndpoint::chat";
    const news = { templateId: "template", gpuTypeIds: [a40], workersMax: 21, __urn };
    await createProvider(kinds.ServerlessEndpoint, host).check?.({}, news);
    expect(warnings.sort()).toEqual([
      "chat gpuTypeIds: NVIDIA A40 has no stock in any data centre",
      "chat workersMax: 21 requested, 0 of 20 already allocated",
    ]);
  });

  test("uses the data centres of the endpoint's volumes, of any program, and one request for all volumes", async () => {
    const [volumeId, otherId] = await Promise.all(
      ["EU-RO-1", "US-KS-2"].map((dataCenterId) =>
        bench.create("/networkvolumes", { name: "models", size: 10, dataCenterId }),
      ),
    );
    const { check, warnings } = deployment("warn");
    bench.drainRequests();
    await check({ gpuTypeIds: [l4], networkVolumeId: volumeId, dataCenterIds: ["US-KS-2"] });
    await check({ gpuTypeIds: [l4], networkVolumeIds: [volumeId, otherId] }, {}, "in two places");
    const createdLater = await bench.create("/networkvolumes", { name: "later", size: 10, dataCenterId: "US-KS-2" });
    await check({ gpuTypeIds: [l4], networkVolumeId: createdLater, dataCenterIds: ["EU-RO-1"] }, {}, "in a new volume");
    await check({ gpuTypeIds: [l4], networkVolumeIds: [volumeId, Unknown.value] }, {}, "with a new volume");
    expect(warnings).toEqual(["chat gpuTypeIds: NVIDIA L4 has no stock in EU-RO-1, where its volume is"]);
    expect(requestsSent()).toHaveLength(reads.length + 1);
  });

  test("reports a lack of stock only if no allowed type is in stock in an allowed data centre", async () => {
    const { check, warnings } = deployment("warn");
    await check({ gpuTypeIds: [l4] }, {}, "anywhere");
    await check({ gpuTypeIds: [l4], dataCenterIds: ["EU-RO-1", "US-KS-2"] }, {}, "second data centre");
    await check({ gpuTypeIds: [a40, "NVIDIA L40"] }, {}, "second type");
    await check({ gpuTypeIds: [], dataCenterIds: ["EU-RO-1"] }, {}, "any type");
    await check({ computeType: "CPU" }, {}, "CPU");
    await check({ gpuTypeIds: ["NVIDIA Z9"] }, {}, "unlisted type");
    await check({ gpuTypeIds: [a40, Unknown.value] }, {}, "unknown type");
    expect(warnings.filter((text) => text.includes("stock"))).toEqual([]);
    const pools = ["AMPERE_48"];
    await check({ gpuPools: pools }, {}, "pool");
    expect(warnings.filter((text) => text.includes("stock"))).toEqual([]);
    await check({ gpuTypeIds: [l4, a40], dataCenterIds: ["EU-RO-1"] }, {}, "both");
    await check({ gpuPools: pools, excludedGpuTypeIds: ["NVIDIA RTX A6000"] }, {}, "rest");
    await check({ excludedGpuTypeIds: gpuTypeIds.filter((id) => id !== a40) }, {}, "other");
    expect(warnings.filter((text) => text.includes("stock"))).toEqual([
      "both gpuTypeIds: NVIDIA L4 and NVIDIA A40 have no stock in EU-RO-1",
      "rest gpuPools: no type of AMPERE_48 has stock in any data centre",
      "other gpuTypeIds: no GPU type has stock in any data centre",
    ]);
  });

  test("with the setting error, reports findings as failures of their properties", async () => {
    const { check, warnings } = deployment("error");
    const { failures } = await check({ gpuTypeIds: [a40], workersMax: 21 });
    expect(failures).toEqual([
      { property: "", reason: "gpuTypeIds: NVIDIA A40 has no stock in any data centre" },
      { property: "workersMax", reason: "21 requested, 0 of 20 already allocated" },
    ]);
    expect(warnings).toEqual([]);
  });

  test("counts the workers of the account's endpoints, except those of the endpoint itself", async () => {
    const template = { name: "quota", imageName: "acme/none:1", isServerless: true };
    const templateId = await bench.create("/templates", template);
    const created = [3, 15].map((workersMax) => bench.rest("POST", "/endpoints", { templateId, workersMax }));
    await Promise.all(created);
    const { check, warnings } = deployment("warn");
    await check({ workersMax: 3 });
    await check({ workersMax: 6 }, { templateId: "template", workersMax: 3 }, "raised");
    await check({ workersMax: 2 }, {}, "fits");
    await check({ workersMax: 1 }, {}, "late");
    expect(warnings).toEqual([
      "chat workersMax: 3 requested, 18 of 20 already allocated",
      "raised workersMax: 6 requested, 15 of 20 already allocated",
      "late workersMax: 1 requested, 20 of 20 already allocated",
    ]);
    for (const response of created) await bench.rest("DELETE", `/endpoints/${stringAt(await response, "id")}`);
  });

  test("sends no request for an endpoint with unchanged placement and without a higher workersMax", async () => {
    const { check, warnings } = deployment("warn");
    const news = { gpuTypeIds: [a40], workersMax: 50, templateId: "old" };
    const { inputs } = await deployment("off").check(news);
    await check({ ...news, templateId: "new", workersMax: 40 }, inputs);
    expect([warnings, requestsSent()]).toEqual([[], []]);
  });

  test.each<[string, Fault, RegExp]>([
    ["the key lacks the permission", { kind: "status", status: 403 }, /the API key is valid but lacks a permission/],
    ["the network fails", { kind: "dropRequest" }, /the connection to \S+ was lost/],
  ])("warns once about each read if %s, and continues", async (_case, fault, reason) => {
    const { check, warnings } = deployment("error");
    bench.proxy.inject({}, fault, 100);
    for (const name of ["one", "two"]) {
      expect((await check({ gpuTypeIds: [a40], workersMax: 21 }, {}, name)).failures).toEqual([]);
    }
    for (const label of ["quota of workers", "stock of GPU types"]) {
      const [warning, ...others] = warnings.filter((text) =>
        text.startsWith(`one preflight is incomplete: ${label}: `),
      );
      expect(warning).toMatch(reason);
      expect(others).toEqual([]);
    }
    expect(warnings).toHaveLength(2);
  });

  test("warns once if the key is missing, and continues", async () => {
    const { check, warnings } = deployment("error", {
      connect: () => {
        throw new Error("the API key is missing");
      },
    });
    for (const name of ["one", "two"]) {
      expect((await check({ gpuTypeIds: [a40], workersMax: 21 }, {}, name)).failures).toEqual([]);
    }
    expect(warnings).toEqual(["one preflight is not possible: the API key is missing"]);
    expect(requestsSent()).toEqual([]);
  });

  test("reveals no secret value", async () => {
    const { check } = deployment("error");
    const { failures } = await check({ gpuTypeIds: asSecret([a40]), workersMax: asSecret(21) });
    expect(JSON.stringify(failures)).not.toMatch(/A40|21/);
  });
});
