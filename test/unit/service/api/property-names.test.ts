import { createService } from "serverless-compute-local";
import { describe, expect, test } from "vitest";
import {
  type Api,
  graphqlEndpoint,
  graphqlTemplate,
  type Request,
  seedEndpoint,
  seedTemplate,
  textIn,
  v1Endpoint,
  v1Template,
  v2Endpoint,
  v2Template,
} from "./support/invalid-requests";

/** A value with a word that is also a property, so that a renamed word would show. */
const nosuch = "workersMin isServerless";

/**
 * An invalid property, the beginning of the text about it, and for each API the property's name with the request. A third element is the
 * text, if it differs. An absent API does not have the property. test/conformance/management-properties has wrong values of each property.
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
    "a minimum of workers above the default maximum",
    "must be at least workersMin",
    {
      v1: ["workersMax", v1Endpoint({ workersMin: 4, workersMax: undefined })],
      v2: ["workers.max", v2Endpoint({ workers: { min: 4 } }), "3 is not allowed; must be at least workers.min"],
      graphql: ["workersMax", graphqlEndpoint({ workersMin: 4, workersMax: undefined })],
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
  [
    "a start command that is no list of texts",
    "1 is not allowed; must be a string",
    {
      v1: ["dockerEntrypoint.0", v1Template({ dockerEntrypoint: [1] })],
      v2: ["entrypoint.0", v2Template({ entrypoint: [1] })],
      seed: ["entrypoint.0", seedTemplate({ entrypoint: [1] })],
    },
  ],
  [
    "an unknown GPU pool or type",
    `"${nosuch}" does not exist; must be one of AMPERE_16, `,
    {
      v1: [
        "gpuTypeIds",
        v1Endpoint({ gpuTypeIds: [nosuch] }),
        `"${nosuch}" is not allowed; must be one of NVIDIA RTX A4000, `,
      ],
      v2: ["gpu.pools", v2Endpoint({ gpu: { pools: [nosuch] } })],
      graphql: [
        "gpuIds",
        graphqlEndpoint({ gpuIds: nosuch }),
        `"${nosuch}" is not allowed; must be one of NVIDIA RTX A4000, `,
      ],
      seed: ["gpu.pools", seedEndpoint({ gpu: { pools: [nosuch] } })],
    },
  ],
  [
    "an unknown CPU flavour",
    `"${nosuch}" is not allowed; must be one of cpu3c, `,
    {
      v1: ["cpuFlavorIds", v1Endpoint({ computeType: "CPU", cpuFlavorIds: [nosuch] })],
      v2: ["cpu", v2Endpoint({ gpu: undefined, cpu: [{ id: nosuch, vcpuCount: 2 }] })],
      graphql: ["instanceIds", graphqlEndpoint({ instanceIds: [`${nosuch}-2-4`] })],
      seed: ["cpu", seedEndpoint({ gpu: undefined, cpu: [{ id: nosuch, vcpuCount: 2 }] })],
    },
  ],
  [
    "too many GPUs",
    "2147483648 is not allowed; must be 2147483647 or less",
    {
      v1: ["gpuCount", v1Endpoint({ gpuCount: 2 ** 31 })],
      v2: ["gpu.count", v2Endpoint({ gpu: { pools: ["AMPERE_24"], count: 2 ** 31 } })],
      seed: ["gpu.count", seedEndpoint({ gpu: { pools: ["AMPERE_24"], count: 2 ** 31 } })],
    },
  ],
  [
    "an unknown network volume",
    `network volume "${nosuch}" does not exist`,
    {
      v1: ["networkVolumeId", v1Endpoint({ networkVolumeId: nosuch })],
      v2: ["networkVolumes", v2Endpoint({ networkVolumes: [nosuch] })],
      graphql: ["networkVolumeId", graphqlEndpoint({ networkVolumeId: nosuch })],
    },
  ],
  [
    "an execution timeout below the minimum",
    "1 is not allowed; must be a whole number from 5000 to 604800000",
    {
      v1: ["executionTimeoutMs", v1Endpoint({ executionTimeoutMs: 1 })],
      v2: ["timeout", v2Endpoint({ timeout: 1 }), "1 is not allowed; must be 0, or from 5000 to 604800000"],
      graphql: ["executionTimeoutMs", graphqlEndpoint({ executionTimeoutMs: 1 })],
      seed: ["timeout", seedEndpoint({ timeout: 1 }), "1 is not allowed; must be 0, or from 5000 to 604800000"],
    },
  ],
  [
    "an unknown scaling type",
    `"${nosuch}" is not allowed; must be "QUEUE_DELAY" or "REQUEST_COUNT"`,
    {
      v1: ["scalerType", v1Endpoint({ scalerType: nosuch })],
      v2: ["scaling.type", v2Endpoint({ scaling: { type: nosuch } })],
      graphql: ["scalerType", graphqlEndpoint({ scalerType: nosuch })],
      seed: ["scaling.type", seedEndpoint({ scaling: { type: nosuch } })],
    },
  ],
  [
    "no scaling type",
    'is required and must be "QUEUE_DELAY" or "REQUEST_COUNT"',
    {
      v2: ["scaling.type", v2Endpoint({ scaling: { queueDelay: 4 } })],
      seed: ["scaling.type", seedEndpoint({ scaling: { queueDelay: 4 } })],
    },
  ],
  [
    "an unknown FlashBoot type",
    `"${nosuch}" is not allowed; must be "OFF", "FLASHBOOT" or "PRIORITY_FLASHBOOT"`,
    {
      v1: ["flashboot", v1Endpoint({ flashboot: nosuch }), `"${nosuch}" is not allowed; must be true or false`],
      v2: ["flashboot", v2Endpoint({ flashboot: nosuch })],
      seed: ["flashboot", seedEndpoint({ flashboot: nosuch })],
    },
  ],
  [
    "a container disk that GraphQL cannot return",
    "2147483648 is not allowed; must be 2147483647 or less",
    {
      v1: ["containerDiskInGb", v1Template({ containerDiskInGb: 2 ** 31 })],
      v2: ["disk", v2Endpoint({ disk: 2 ** 31 })],
      seed: ["disk", seedTemplate({ disk: 2 ** 31 })],
    },
  ],
  [
    "a volume that GraphQL cannot return",
    "2147483648 is not allowed; must be 2147483647 or less",
    {
      v1: ["volumeInGb", v1Template({ isServerless: false, volumeInGb: 2 ** 31 })],
      v2: [
        "mounts.persistent.size",
        v2Template({ serverless: false, mounts: { persistent: { size: 2 ** 31, path: "/w" } } }),
      ],
    },
  ],
  [
    "a scaling value that GraphQL cannot return",
    "2147483648 is not allowed; must be 2147483647 or less",
    {
      v1: ["scalerValue", v1Endpoint({ scalerValue: 2 ** 31 })],
      v2: ["scaling.queueDelay", v2Endpoint({ scaling: { type: "QUEUE_DELAY", queueDelay: 2 ** 31 } })],
      seed: ["scaling.requestCount", seedEndpoint({ scaling: { type: "REQUEST_COUNT", requestCount: 2 ** 31 } })],
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
