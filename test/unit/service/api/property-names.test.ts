import { createService } from "serverless-compute-local";
import { describe, expect, test } from "vitest";
import { type Api, type Request, useInvalidRequests } from "./support/invalid-requests";

const requests = await useInvalidRequests();
const { textIn, v1Endpoint, v2Endpoint, seedEndpoint, graphqlEndpoint } = requests;
const { v1Template, v2Template, seedTemplate, graphqlTemplate } = requests;

/** A value with a word that is also a property, so that a renamed word would show. */
const nosuch = "workersMin isServerless";
const tooMany = 3_000_000_000;

/**
 * An invalid property, the beginning of the text about it, and for each API the property's name with the request. A third element is the
 * text, if it differs. An absent API does not have the property.
 */
const cases: [
  what: string,
  text: string,
  variants: { [Key in Api]?: [name: string, request: Request, text?: string] },
][] = [
  [
    "a minimum of workers above the maximum",
    "1 is not allowed; must be at least workersMin",
    {
      v1: ["workersMax", v1Endpoint({ workersMin: 2, workersMax: 1 })],
      v2: [
        "workers.max",
        v2Endpoint({ workers: { min: 2, max: 1 } }),
        "1 is not allowed; must be at least workers.min",
      ],
      graphql: ["workersMax", graphqlEndpoint({ workersMin: 2, workersMax: 1 })],
      seed: [
        "workers.max",
        seedEndpoint({ workers: { min: 2, max: 1 } }),
        "1 is not allowed; must be at least workers.min",
      ],
    },
  ],
  [
    "a maximum of workers above the quota",
    "the worker quota is exceeded; 21 requested, ",
    {
      v1: ["workersMax", v1Endpoint({ workersMax: 21 })],
      v2: ["workers.max", v2Endpoint({ workers: { max: 21 } })],
      graphql: ["workersMax", graphqlEndpoint({ workersMax: 21 })],
      seed: ["workers.max", seedEndpoint({ workers: { max: 21 } })],
    },
  ],
  [
    "a number of workers that is too large",
    `${tooMany} is not allowed; must be`,
    {
      v1: ["workersMax", v1Endpoint({ workersMax: tooMany })],
      v2: ["workers.max", v2Endpoint({ workers: { max: tooMany } })],
      seed: ["workers.max", seedEndpoint({ workers: { max: tooMany } })],
    },
  ],
  [
    "a number of GPUs that is too large",
    `${tooMany} is not allowed; must be`,
    {
      v1: ["gpuCount", v1Endpoint({ gpuCount: tooMany })],
      v2: ["gpu.count", v2Endpoint({ gpu: { pools: ["AMPERE_24"], count: tooMany } })],
      seed: ["gpu.count", seedEndpoint({ gpu: { pools: ["AMPERE_24"], count: tooMany } })],
    },
  ],
  [
    "an unknown template",
    `template "${nosuch}" does not exist`,
    {
      v1: ["templateId", v1Endpoint({ templateId: nosuch })],
      graphql: ["templateId", graphqlEndpoint({ templateId: nosuch })],
      seed: ["template", seedEndpoint({ template: nosuch })],
    },
  ],
  [
    "neither a template nor an image",
    "is required without templateId",
    {
      v2: ["image", v2Endpoint({ image: undefined })],
      seed: ["image", seedEndpoint({ image: undefined }), "is required without template"],
    },
  ],
  [
    "an unknown network volume",
    `network volume "${nosuch}" does not exist`,
    {
      v1: ["networkVolumeId", v1Endpoint({ networkVolumeId: nosuch })],
      v2: ["networkVolumes", v2Endpoint({ networkVolumes: [nosuch] })],
      graphql: ["networkVolumeId", graphqlEndpoint({ networkVolumeId: nosuch })],
      seed: ["networkVolumes", seedEndpoint({ networkVolumes: [nosuch] })],
    },
  ],
  [
    "an unknown network volume of several",
    `network volume "${nosuch}" does not exist`,
    {
      v1: ["networkVolumeIds", v1Endpoint({ networkVolumeIds: [nosuch, "b"] })],
      v2: ["networkVolumes", v2Endpoint({ networkVolumes: [nosuch, "b"] })],
      graphql: ["networkVolumeIds", graphqlEndpoint({ networkVolumeIds: [{ networkVolumeId: nosuch }] })],
    },
  ],
  [
    "an unknown data centre",
    `"${nosuch}" is not allowed; must be one of`,
    {
      v1: ["dataCenterIds", v1Endpoint({ dataCenterIds: [nosuch] })],
      v2: ["dataCenterIds", v2Endpoint({ dataCenterIds: [nosuch] })],
      graphql: ["locations", graphqlEndpoint({ locations: nosuch })],
      seed: ["dataCenterIds", seedEndpoint({ dataCenterIds: [nosuch] })],
    },
  ],
  [
    "an unknown GPU type",
    `"${nosuch}" is not allowed; must be one of`,
    {
      v1: ["gpuTypeIds", v1Endpoint({ gpuTypeIds: [nosuch] })],
      v2: ["gpu.pools", v2Endpoint({ gpu: { pools: [nosuch] } }), `"${nosuch}" does not exist; must be one of`],
      graphql: ["gpuIds", graphqlEndpoint({ gpuIds: nosuch })],
      seed: ["gpu.pools", seedEndpoint({ gpu: { pools: [nosuch] } }), `"${nosuch}" does not exist; must be one of`],
    },
  ],
  [
    "an unknown CPU flavour",
    '"cpu9x" is not allowed; must be one of',
    {
      v1: ["cpuFlavorIds", v1Endpoint({ computeType: "CPU", cpuFlavorIds: ["cpu9x"] })],
      v2: ["cpu", v2Endpoint({ gpu: undefined, cpu: [{ id: "cpu9x", vcpuCount: 2 }] })],
      graphql: ["instanceIds", graphqlEndpoint({ gpuIds: undefined, instanceIds: ["cpu9x-2-4"] })],
      seed: ["cpu", seedEndpoint({ gpu: undefined, cpu: [{ id: "cpu9x", vcpuCount: 2 }] })],
    },
  ],
  [
    "an idle timeout of 0",
    "0 is not allowed; must be a whole number from 1 to 3600",
    {
      v1: ["idleTimeout", v1Endpoint({ idleTimeout: 0 })],
      v2: ["workers.idleTimeout", v2Endpoint({ workers: { idleTimeout: 0 } })],
      graphql: ["idleTimeout", graphqlEndpoint({ idleTimeout: 0 })],
      seed: ["workers.idleTimeout", seedEndpoint({ workers: { idleTimeout: 0 } })],
    },
  ],
  [
    "an execution timeout of 1 ms",
    "1 is not allowed; must be ",
    {
      v1: ["executionTimeoutMs", v1Endpoint({ executionTimeoutMs: 1 })],
      v2: ["timeout", v2Endpoint({ timeout: 1 })],
      graphql: ["executionTimeoutMs", graphqlEndpoint({ executionTimeoutMs: 1 })],
      seed: ["timeout", seedEndpoint({ timeout: 1 })],
    },
  ],
  [
    "a volume of a serverless template",
    "11 is not allowed; must be 0 when isServerless is true",
    {
      v1: ["volumeInGb", v1Template({ volumeInGb: 11 })],
      v2: [
        "mounts.persistent.size",
        v2Template({ mounts: { persistent: { size: 11, path: "/w" } } }),
        "11 is not allowed; must be 0 when serverless is true",
      ],
      graphql: ["volumeInGb", graphqlTemplate({ volumeInGb: 11 })],
      seed: [
        "mounts.persistent.size",
        seedTemplate({ mounts: { persistent: { size: 11, path: "/w" } } }),
        "11 is not allowed; must be 0 when serverless is true",
      ],
    },
  ],
  [
    "unknown registry credentials of a template",
    `registry auth "${nosuch}" does not exist`,
    {
      v1: ["containerRegistryAuthId", v1Template({ containerRegistryAuthId: nosuch })],
      v2: ["registry", v2Template({ registry: nosuch })],
      graphql: ["containerRegistryAuthId", graphqlTemplate({ containerRegistryAuthId: nosuch })],
      seed: ["registry", seedTemplate({ registry: nosuch })],
    },
  ],
  [
    "unknown registry credentials of an endpoint",
    `registry auth "${nosuch}" does not exist`,
    {
      v2: ["registry", v2Endpoint({ registry: nosuch })],
      seed: ["registry", seedEndpoint({ registry: nosuch })],
    },
  ],
  [
    "a negative container disk",
    "-1 is not allowed; must be",
    {
      v1: ["containerDiskInGb", v1Template({ containerDiskInGb: -1 })],
      v2: ["disk", v2Template({ disk: -1 })],
      graphql: ["containerDiskInGb", graphqlTemplate({ containerDiskInGb: -1 })],
      seed: ["disk", seedTemplate({ disk: -1 })],
    },
  ],
  [
    "an unknown property that another API has",
    "unknown property; expected one of name, ",
    {
      v2: ["containerDiskInGb", v2Template({ containerDiskInGb: 5 })],
      seed: ["containerDiskInGb", seedTemplate({ containerDiskInGb: 5 }), "unknown property; expected one of "],
    },
  ],
  [
    "an unknown property with the name of a reference",
    "unknown property; expected one of name, ",
    {
      v2: ["template", v2Endpoint({ template: "a" })],
      seed: ["templateid", seedEndpoint({ templateid: "a" }), "unknown property; expected one of "],
    },
  ],
  [
    "an unknown data centre of a volume",
    `"${nosuch}" is not allowed; must be one of`,
    {
      v1: ["dataCenterId", ["/networkvolumes", { name: "v", size: 10, dataCenterId: nosuch }]],
      v2: ["dataCenter", ["/network-volumes", { name: "v", size: 10, dataCenter: nosuch }]],
      graphql: [
        "dataCenterId",
        [
          "createNetworkVolume(input: $input) { id } } #CreateNetworkVolumeInput",
          { name: "v", size: 10, dataCenterId: nosuch },
        ],
      ],
      seed: ["dataCenter", ["volumes", { size: 10, dataCenter: nosuch }]],
    },
  ],
  [
    "an empty value of a secret",
    "must not be empty",
    {
      v2: ["value", ["/account/secrets", { name: "s", value: "" }]],
      graphql: ["value", ["secretCreate(input: $input) { id } } #SecretCreateInput", { name: "s", value: "" }]],
      seed: ["valueFromEnv", ["secrets", { valueFromEnv: "EMPTY" }]],
    },
  ],
];

describe("each API names an invalid property as its requests do", () => {
  test.each(cases)("%s", async (_what, commonText, variants) => {
    const apis: Api[] = ["v1", "v2", "graphql", "seed"];
    for (const api of apis) {
      const [name, request, text = commonText] = variants[api] ?? [];
      if (request === undefined) continue;
      const parent = api === "seed" ? `${request[0]}.own.` : "";
      const received = await textIn[api](...request);
      expect(received.slice(0, `${parent}${name}: ${text}`.length), api).toBe(`${parent}${name}: ${text}`);
    }
  });

  test("several invalid properties are separate issues", async () => {
    const request = v2Template({ containerDiskInGb: 5, networkVolumeId: "a", disk: 0 });
    expect(await textIn.v2(...request)).toMatch(/^disk: .*; containerDiskInGb: .*; networkVolumeId: unknown property/);
    const fields = { containerDiskInGb: 5, networkVolumeId: "a", disk: 0 };
    expect(await textIn.seed(...seedTemplate(fields))).toMatch(
      /^templates\.own\.disk: .*; templates\.own\.containerDiskInGb: .*; templates\.own\.networkVolumeId: unknown/,
    );
  });

  test("the options of a runtime are below its name", async () => {
    const kubernetes: object = { gpuResource: "", runAsUser: 0, zone: {} };
    await expect(createService({ port: 0, ephemeral: true, kubernetes })).rejects.toThrow(
      /^kubernetes\.gpuResource: "" .*; kubernetes\.runAsUser: 0 .*; kubernetes\.zone: unknown property/,
    );
  });

  test("the name of an object in a seed file is its key", async () => {
    const text = await textIn.seed("secrets", { valueFromEnv: "EMPTY" }, "not allowed");
    expect(text).toMatch(/^secrets\.not allowed: "not allowed" is not allowed; must be letters/);
  });
});
