import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createService } from "serverless-compute-local";
import { describe, expect, test } from "vitest";
import { v2Controllers } from "../../../../service/api/management/controllers";
import { createPager } from "../../../../service/api/management/pages";
import { readSeedFile } from "../../../../service/seed/seed-file";
import { applySeed } from "../../../../service/seed/seeding";
import { scratchFolder } from "../../../support/folders";
import { type Fields, freshName, useSharedService } from "../../../support/local-service";
import { at, type RawResponse, send, stringAt } from "../../../support/raw-http";
import { useResources } from "../resources/resources-rig";

type Api = "v1" | "v2" | "graphql" | "seed";
/** Path, mutation or section of the file, and the fields of a new object. */
type Request = [place: string, fields: Fields];

const rig = await useSharedService({ templateRelease: 0, workerQuota: 20 });
const templateId = await rig.template();

const v1Endpoint = (fields: Fields): Request => ["/endpoints", { name: "e", templateId, workersMax: 0, ...fields }];
const v2Fields = (fields: Fields): Fields => ({
  type: "QUEUE",
  gpu: { pools: ["AMPERE_24"] },
  scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
  ...fields,
});
const v2Endpoint = (fields: Fields): Request => [
  "/serverless",
  v2Fields({ name: "e", image: "acme/none:1", ...fields }),
];
const seedEndpoint = (fields: Fields): Request => [
  "endpoints",
  v2Fields({ image: "acme/none:1", workers: { max: 0 }, ...fields }),
];
const graphqlEndpoint = (fields: Fields): Request => [
  "saveEndpoint(input: $input) { id } } #EndpointInput",
  { name: "e", gpuIds: "AMPERE_24", templateId, workersMax: 0, ...fields },
];
const v1Template = (fields: Fields): Request => [
  "/templates",
  { name: freshName("t"), imageName: "acme/none:1", isServerless: true, ...fields },
];
const v2Template = (fields: Fields): Request => [
  "/templates",
  { name: freshName("t"), image: "acme/none:1", serverless: true, ...fields },
];
const seedTemplate = (fields: Fields): Request => ["templates", { image: "acme/none:1", serverless: true, ...fields }];
const graphqlTemplate = (fields: Fields): Request => [
  "saveTemplate(input: $input) { id } } #SaveTemplateInput",
  {
    name: freshName("t"),
    imageName: "acme/none:1",
    containerDiskInGb: 5,
    volumeInGb: 0,
    dockerArgs: "",
    env: [],
    isServerless: true,
    ...fields,
  },
];

/** The text about the properties of a response of REST v2. */
const problemText = (response: RawResponse): string => {
  const errors = at(response.json, "errors");
  return Array.isArray(errors) ? errors.join("; ") : stringAt(response, "detail");
};

/** Sends the invalid request of one API; returns the text of the error. */
const textIn: { [Key in Api]: (place: string, fields: Fields, key?: string) => Promise<string> } = {
  v1: async (path, fields) => stringAt(await rig.rest("POST", path, fields), "message"),
  v2: async (path, fields) =>
    problemText(await send("POST", `${rig.service.url}/v2${path}`, { key: rig.service.apiKey, json: fields })),
  graphql: async (mutation, input) => {
    const [selection = "", type = ""] = mutation.split(" #");
    const response = await rig.graphql(`mutation ($input: ${type}!) { ${selection}`, { input });
    return stringAt(response, "errors", 0, "message");
  },
  seed: async (section, fields, key = "own") => {
    const file = join(scratchFolder(), "seed.yaml");
    writeFileSync(file, JSON.stringify({ simulate: { workerQuota: 20 }, [section]: { [key]: fields } }));
    const resources = useResources({ workerQuota: 20 });
    const controllers = v2Controllers({ resources, pager: createPager(1), serverlessUrl: () => "" });
    try {
      applySeed(readSeedFile(file), resources, controllers, () => "");
    } catch (error) {
      return String(error).slice(`StartError: ${file}: `.length);
    }
    throw new Error("the seed file is valid");
  },
};

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
