import type { Properties } from "../../../provider/engine/values";
import { type Kind, kinds } from "../../../provider/resources";
import { dialect, restPaths } from "../../support/dialect";
import { type CollectionName, type LifecycleBench, propertiesIn } from "../../support/lifecycle-bench";
import { naming, uniqueNaming } from "../../support/naming";
import { stringAt } from "../../support/raw-http";
import type { Match } from "../../support/recording-proxy";

/** A kind that creates an object in the service. */
export type ObjectKind = Exclude<Kind, "JobInvoke">;

/** A kind with the data to create and find its objects. */
export interface ObjectCase extends KindFacts {
  /** Checked inputs of a resource whose default name is `name`. */
  inputsOf(name: string, more?: Properties): Properties;
  /** Checked inputs of a resource whose generated name is `name`. */
  generatedInputsOf(name: string): Properties;
  /** Ids of the service's objects with a name. */
  idsOf(name: string): Promise<string[]>;
}

interface KindFacts {
  kind: ObjectKind;
  /** Inputs without a name. */
  news: Properties;
  /** Match of its create request. */
  create: Match;
  collection: CollectionName;
  /** True if no two objects may have the same name. */
  unique: boolean;
  /** True if the service can read a single object by its id. */
  readById: boolean;
}

const listMatches: Record<CollectionName, Match> = {
  endpoints: { method: "GET", path: restPaths.endpoints },
  networkvolumes: { method: "GET", path: restPaths.volumes },
  templates: dialect === "v1" ? { body: /query podTemplates/ } : { method: "GET", path: "/v2/templates" },
  secrets: dialect === "v1" ? { body: /query secrets/ } : { method: "GET", path: "/v2/account/secrets" },
  containerregistryauth: dialect === "v1" ? { body: /query registryCreds/ } : { method: "GET", path: "/v2/registries" },
};

/** Match of the request that lists a kind. */
export const listMatch = (collection: CollectionName): Match => listMatches[collection];

/** Changes the lists of a response: a bare list of REST, or the lists of a GraphQL account. */
export function withLists(response: unknown, change: (list: Record<string, unknown>[]) => unknown[]): unknown {
  if (Array.isArray(response)) return change(response);
  if (typeof response !== "object" || response === null) return response;
  return Object.fromEntries(Object.entries(response).map(([key, item]) => [key, withLists(item, change)]));
}

let names = 0;
/** A name that no other test of the file uses. */
export const freshName = (): string => `thing${names++}-dev`;

/** A case of each kind; the endpoints' template is created by raw HTTP. */
export async function objectCases(bench: LifecycleBench): Promise<ObjectCase[]> {
  return (await kindFacts(bench)).map((facts) => ({
    ...facts,
    inputsOf: (name, more = {}) => kinds[facts.kind].check({}, { ...facts.news, ...more }, naming(name)).inputs,
    generatedInputsOf: (name) => kinds[facts.kind].check({}, facts.news, uniqueNaming(name)).inputs,
    idsOf: async (name) =>
      (await bench.listObjects(facts.collection))
        .map(propertiesIn)
        .flatMap((record) => (record["name"] === name ? [String(record["id"])] : [])),
  }));
}

async function kindFacts(bench: LifecycleBench): Promise<KindFacts[]> {
  const created = await bench.rest("POST", "/templates", { name: "base", imageName: "a:1", isServerless: true });
  const templateId = stringAt(created, "id");
  return [
    {
      kind: "Template",
      news: { imageName: "a:1", env: { A: "1" } },
      create: dialect === "v1" ? { body: /mutation saveTemplate/ } : { method: "POST", path: "/v2/templates" },
      collection: "templates",
      unique: true,
      readById: true,
    },
    {
      kind: "ServerlessEndpoint",
      news: { templateId, gpuTypeIds: ["NVIDIA L4"], workersMax: 0 },
      create: { method: "POST", path: restPaths.endpoints },
      collection: "endpoints",
      unique: false,
      readById: true,
    },
    {
      kind: "NetworkVolume",
      news: { size: 10, dataCenterId: "EU-RO-1" },
      create: { method: "POST", path: restPaths.volumes },
      collection: "networkvolumes",
      unique: false,
      readById: true,
    },
    {
      kind: "Secret",
      news: { value: "vvvv" },
      create: dialect === "v1" ? { body: /secretCreate/ } : { method: "POST", path: "/v2/account/secrets" },
      collection: "secrets",
      unique: true,
      readById: dialect === "v2",
    },
    {
      kind: "ContainerRegistryAuth",
      news: { username: "robot", password: "pppp" },
      create: dialect === "v1" ? { body: /saveRegistryAuth/ } : { method: "POST", path: "/v2/registries" },
      collection: "containerregistryauth",
      unique: true,
      readById: dialect === "v2",
    },
  ];
}
