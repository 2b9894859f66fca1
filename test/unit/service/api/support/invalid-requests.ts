import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { v2Controllers } from "../../../../../service/api/management/controllers";
import { createPager } from "../../../../../service/api/management/pages";
import { readSeedFile } from "../../../../../service/seed/seed-file";
import { applySeed } from "../../../../../service/seed/seeding";
import { scratchFolder } from "../../../../support/folders";
import { type Fields, freshName, useSharedService } from "../../../../support/local-service";
import { at, type RawResponse, send, stringAt } from "../../../../support/raw-http";
import { useResources } from "../../resources/resources-rig";

/** The APIs, and the seed file. */
export const apis = ["v1", "v2", "graphql", "seed"] as const;
export type Api = (typeof apis)[number];
export type Kind = "endpoint" | "template" | "volume" | "secret";
/** Path, mutation or section of the file, and the fields of a new object. */
type Request = [place: string, fields: Fields];

const rig = await useSharedService({ templateRelease: 0, workerQuota: 20 });
const templateId = await rig.template();

const place =
  (at: string, required: () => Fields) =>
  (fields: Fields): Request => [at, { ...required(), ...fields }];
const v2Fields = {
  type: "QUEUE",
  gpu: { pools: ["AMPERE_24"] },
  scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
  image: "acme/none:1",
};
const newTemplate = () => ({ name: freshName("t"), imageName: "acme/none:1", isServerless: true });
const newVolume = { name: "v", size: 10 };
const graphqlTemplate = { containerDiskInGb: 5, volumeInGb: 0, dockerArgs: "", env: [] };

/** Requests that create an object with these fields in addition to those that a new object requires. */
export const requests: Record<Kind, Record<Api, (fields: Fields) => Request>> = {
  endpoint: {
    v1: place("/endpoints", () => ({ name: "e", templateId, workersMax: 0 })),
    v2: place("/serverless", () => ({ ...v2Fields, name: "e" })),
    graphql: place("saveEndpoint(input: $input) { id } } #EndpointInput", () => ({
      name: "e",
      gpuIds: "AMPERE_24",
      templateId,
      workersMax: 0,
    })),
    seed: place("endpoints", () => ({ ...v2Fields, workers: { max: 0 } })),
  },
  template: {
    v1: place("/templates", newTemplate),
    v2: place("/templates", () => ({ name: freshName("t"), image: "acme/none:1", serverless: true })),
    graphql: place("saveTemplate(input: $input) { id } } #SaveTemplateInput", () => ({
      ...newTemplate(),
      ...graphqlTemplate,
    })),
    seed: place("templates", () => ({ image: "acme/none:1", serverless: true })),
  },
  volume: {
    v1: place("/networkvolumes", () => newVolume),
    v2: place("/network-volumes", () => newVolume),
    graphql: place("createNetworkVolume(input: $input) { id } } #CreateNetworkVolumeInput", () => newVolume),
    seed: place("volumes", () => ({ size: 10 })),
  },
  secret: {
    v1: () => expect.unreachable("REST v1 has no secrets"),
    v2: place("/account/secrets", () => ({})),
    graphql: place("secretCreate(input: $input) { id } } #SecretCreateInput", () => ({})),
    seed: place("secrets", () => ({})),
  },
};

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
