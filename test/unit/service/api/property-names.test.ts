import { createService } from "serverless-compute-local";
import { describe, expect, test } from "vitest";
import type { Fields } from "../../../support/local-service";
import { type Api, apis, type Kind, requests, textIn } from "./support/invalid-requests";

/** A value with a word that is also a property, so that a renamed word would show. */
const nosuch = "workersMin isServerless";
/** A number that GraphQL cannot return. */
const tooLarge = 2 ** 31;
const largeText = "2147483648 is not allowed; must be 2147483647 or less";

/** APIs with the same fields. */
type Apis = Api | "v1 graphql" | "v2 seed";
/** The property's name in an API, the fields of a new object, and the beginning of the text about it, if it differs. */
type Variant = [name: string, fields: Fields, text?: string];

/**
 * An invalid property, the kind of its object, the beginning of the text about it, and the variant of each API that has the property.
 * test/conformance/management-properties has wrong values of each property.
 */
const cases: [what: string, kind: Kind, text: string, variants: { [Key in Apis]?: Variant }][] = [
  [
    "a minimum of workers above the maximum",
    "endpoint",
    "1 is not allowed; must be at least workersMin",
    {
      "v1 graphql": ["workersMax", { workersMin: 2, workersMax: 1 }],
      "v2 seed": ["workers.max", { workers: { min: 2, max: 1 } }, "1 is not allowed; must be at least workers.min"],
    },
  ],
  [
    "a minimum of workers above the default maximum",
    "endpoint",
    "must be at least workersMin",
    {
      "v1 graphql": ["workersMax", { workersMin: 4, workersMax: undefined }],
      v2: ["workers.max", { workers: { min: 4 } }, "3 is not allowed; must be at least workers.min"],
    },
  ],
  [
    "a maximum of workers above the quota",
    "endpoint",
    "the worker quota is exceeded; 21 requested, ",
    { "v1 graphql": ["workersMax", { workersMax: 21 }], "v2 seed": ["workers.max", { workers: { max: 21 } }] },
  ],
  [
    "an unknown template",
    "endpoint",
    `template "${nosuch}" does not exist`,
    { "v1 graphql": ["templateId", { templateId: nosuch }], seed: ["template", { template: nosuch }] },
  ],
  [
    "neither a template nor an image",
    "endpoint",
    "is required without templateId",
    { v2: ["image", { image: undefined }], seed: ["image", { image: undefined }, "is required without template"] },
  ],
  [
    "a volume of a serverless template",
    "template",
    "11 is not allowed; must be 0 when isServerless is true",
    {
      "v1 graphql": ["volumeInGb", { volumeInGb: 11 }],
      "v2 seed": [
        "mounts.persistent.size",
        { mounts: { persistent: { size: 11, path: "/w" } } },
        "11 is not allowed; must be 0 when serverless is true",
      ],
    },
  ],
  [
    "an unknown property that another API has",
    "template",
    "unknown property; expected one of ",
    {
      v2: ["containerDiskInGb", { containerDiskInGb: 5 }, "unknown property; expected one of name, "],
      seed: ["containerDiskInGb", { containerDiskInGb: 5 }],
    },
  ],
  [
    "an unknown property with the name of a reference",
    "endpoint",
    "unknown property; expected one of ",
    {
      v2: ["template", { template: "a" }, "unknown property; expected one of name, "],
      seed: ["templateid", { templateid: "a" }],
    },
  ],
  [
    "an unknown data centre of a volume",
    "volume",
    `"${nosuch}" is not allowed; must be one of`,
    { "v1 graphql": ["dataCenterId", { dataCenterId: nosuch }], "v2 seed": ["dataCenter", { dataCenter: nosuch }] },
  ],
  [
    "an empty value of a secret",
    "secret",
    "must not be empty",
    {
      v2: ["value", { name: "s", value: "" }],
      graphql: ["value", { name: "s", value: "" }],
      seed: ["valueFromEnv", { valueFromEnv: "EMPTY" }],
    },
  ],
  [
    "a start command that is no list of texts",
    "template",
    "must be a string",
    { v1: ["dockerEntrypoint.0", { dockerEntrypoint: [1] }], "v2 seed": ["entrypoint.0", { entrypoint: [1] }] },
  ],
  [
    "an unknown GPU pool or type",
    "endpoint",
    `"${nosuch}" is not allowed; must be one of NVIDIA RTX A4000, `,
    {
      v1: ["gpuTypeIds", { gpuTypeIds: [nosuch] }],
      graphql: ["gpuIds", { gpuIds: nosuch }],
      "v2 seed": ["gpu.pools", { gpu: { pools: [nosuch] } }, `"${nosuch}" does not exist; must be one of AMPERE_16, `],
    },
  ],
  [
    "an unknown CPU flavour",
    "endpoint",
    `"${nosuch}" is not allowed; must be one of cpu3c, `,
    {
      v1: ["cpuFlavorIds", { computeType: "CPU", cpuFlavorIds: [nosuch] }],
      graphql: ["instanceIds", { instanceIds: [`${nosuch}-2-4`] }],
      "v2 seed": ["cpu", { gpu: undefined, cpu: [{ id: nosuch, vcpuCount: 2 }] }],
    },
  ],
  [
    "too many GPUs",
    "endpoint",
    largeText,
    {
      v1: ["gpuCount", { gpuCount: tooLarge }],
      "v2 seed": ["gpu.count", { gpu: { pools: ["AMPERE_24"], count: tooLarge } }],
    },
  ],
  [
    "an unknown network volume",
    "endpoint",
    `network volume "${nosuch}" does not exist`,
    {
      "v1 graphql": ["networkVolumeId", { networkVolumeId: nosuch }],
      v2: ["networkVolumes", { networkVolumes: [nosuch] }],
    },
  ],
  [
    "an execution timeout below the minimum",
    "endpoint",
    "1 is not allowed; must be a whole number from 5000 to 604800000",
    {
      "v1 graphql": ["executionTimeoutMs", { executionTimeoutMs: 1 }],
      "v2 seed": ["timeout", { timeout: 1 }, "1 is not allowed; must be 0, or from 5000 to 604800000"],
    },
  ],
  [
    "an unknown scaling type",
    "endpoint",
    `"${nosuch}" is not allowed; must be "QUEUE_DELAY" or "REQUEST_COUNT"`,
    {
      "v1 graphql": ["scalerType", { scalerType: nosuch }],
      "v2 seed": ["scaling.type", { scaling: { type: nosuch } }],
    },
  ],
  [
    "no scaling type",
    "endpoint",
    'is required and must be "QUEUE_DELAY" or "REQUEST_COUNT"',
    { "v2 seed": ["scaling.type", { scaling: { queueDelay: 4 } }] },
  ],
  [
    "an unknown FlashBoot type",
    "endpoint",
    `"${nosuch}" is not allowed; must be `,
    {
      v1: ["flashboot", { flashboot: nosuch }, `"${nosuch}" is not allowed; must be true or false`],
      "v2 seed": [
        "flashboot",
        { flashboot: nosuch },
        `"${nosuch}" is not allowed; must be "OFF", "FLASHBOOT" or "PRIORITY_FLASHBOOT"`,
      ],
    },
  ],
  ["a container disk that GraphQL cannot return", "endpoint", largeText, { v2: ["disk", { disk: tooLarge }] }],
  [
    "a container disk of a template that GraphQL cannot return",
    "template",
    largeText,
    { v1: ["containerDiskInGb", { containerDiskInGb: tooLarge }], seed: ["disk", { disk: tooLarge }] },
  ],
  [
    "a volume that GraphQL cannot return",
    "template",
    largeText,
    {
      v1: ["volumeInGb", { isServerless: false, volumeInGb: tooLarge }],
      v2: ["mounts.persistent.size", { serverless: false, mounts: { persistent: { size: tooLarge, path: "/w" } } }],
    },
  ],
  [
    "a scaling value that GraphQL cannot return",
    "endpoint",
    largeText,
    {
      v1: ["scalerValue", { scalerValue: tooLarge }],
      v2: ["scaling.queueDelay", { scaling: { type: "QUEUE_DELAY", queueDelay: tooLarge } }],
      seed: ["scaling.requestCount", { scaling: { type: "REQUEST_COUNT", requestCount: tooLarge } }],
    },
  ],
];

/** The variants of each API, whatever their keys. */
const variantsOf = (variants: { [Key in Apis]?: Variant }): [Api, Variant][] =>
  Object.entries(variants).flatMap(([key, variant]) =>
    apis.filter((api) => key.split(" ").includes(api)).map((api): [Api, Variant] => [api, variant]),
  );

describe("each API names an invalid property as its requests do", () => {
  test.each(cases)("%s", async (_what, kind, commonText, variants) => {
    for (const [api, [name, fields, text = commonText]] of variantsOf(variants)) {
      const request = requests[kind][api](fields);
      const parent = api === "seed" ? `${request[0]}.own.` : "";
      const received = await textIn[api](...request);
      expect(received.slice(0, `${parent}${name}: ${text}`.length), api).toBe(`${parent}${name}: ${text}`);
    }
  });

  test("several invalid properties are separate issues", async () => {
    const fields = { containerDiskInGb: 5, networkVolumeId: "a", disk: 0 };
    expect(await textIn.v2(...requests.template.v2(fields))).toMatch(
      /^disk: .*; containerDiskInGb: .*; networkVolumeId: unknown property/,
    );
    expect(await textIn.seed(...requests.template.seed(fields))).toMatch(
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
