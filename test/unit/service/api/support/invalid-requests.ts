import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { v2Controllers } from "../../../../../service/api/management/controllers";
import { createPager } from "../../../../../service/api/management/pages";
import { readSeedFile } from "../../../../../service/seed/seed-file";
import { applySeed } from "../../../../../service/seed/seeding";
import { scratchFolder } from "../../../../support/folders";
import { type Fields, freshName, useSharedService } from "../../../../support/local-service";
import { at, type RawResponse, send, stringAt } from "../../../../support/raw-http";
import { useResources } from "../../resources/resources-rig";

/** An API, or the seed file. */
export type Api = "v1" | "v2" | "graphql" | "seed";
/** Path, mutation or section of the file, and the fields of a new object. */
export type Request = [place: string, fields: Fields];

const rig = await useSharedService({ templateRelease: 0, workerQuota: 20 });
const templateId = await rig.template();

/** A create of an endpoint in REST v1 with these fields. */
export const v1Endpoint = (fields: Fields): Request => [
  "/endpoints",
  { name: "e", templateId, workersMax: 0, ...fields },
];
const v2Fields = (fields: Fields): Fields => ({
  type: "QUEUE",
  gpu: { pools: ["AMPERE_24"] },
  scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
  ...fields,
});
/** A create of an endpoint in REST v2 with these fields. */
export const v2Endpoint = (fields: Fields): Request => [
  "/serverless",
  v2Fields({ name: "e", image: "acme/none:1", ...fields }),
];
/** An endpoint of a seed file with these fields. */
export const seedEndpoint = (fields: Fields): Request => [
  "endpoints",
  v2Fields({ image: "acme/none:1", workers: { max: 0 }, ...fields }),
];
/** A saveEndpoint of GraphQL with these fields. */
export const graphqlEndpoint = (fields: Fields): Request => [
  "saveEndpoint(input: $input) { id } } #EndpointInput",
  { name: "e", gpuIds: "AMPERE_24", templateId, workersMax: 0, ...fields },
];
/** A create of a template in REST v1 with these fields. */
export const v1Template = (fields: Fields): Request => [
  "/templates",
  { name: freshName("t"), imageName: "acme/none:1", isServerless: true, ...fields },
];
/** A create of a template in REST v2 with these fields. */
export const v2Template = (fields: Fields): Request => [
  "/templates",
  { name: freshName("t"), image: "acme/none:1", serverless: true, ...fields },
];
/** A template of a seed file with these fields. */
export const seedTemplate = (fields: Fields): Request => [
  "templates",
  { image: "acme/none:1", serverless: true, ...fields },
];
/** A saveTemplate of GraphQL with these fields. */
export const graphqlTemplate = (fields: Fields): Request => [
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
export const textIn: { [Key in Api]: (place: string, fields: Fields, key?: string) => Promise<string> } = {
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
