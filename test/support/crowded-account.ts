import { createService } from "serverless-compute-local";
import { z } from "zod";
import { expectResponse, send } from "./raw-http";
import { registerSecret } from "./secret-scan";

/** Objects of other programs in an account, by kind. */
export type ObjectCounts = Record<"templates" | "endpoints" | "volumes" | "secrets" | "registries", number>;

export const crowdedCounts: ObjectCounts = {
  templates: 100,
  endpoints: 1010,
  volumes: 30,
  secrets: 30,
  registries: 30,
};

/** True in full runs, in which pages and examples run in an account with many objects and one object per page. */
export const isCrowded = Boolean(process.env["FULL"]);

/** Prefix of the names of other programs' objects. */
export const otherPrefix = "other-";

const createdShape = z.looseObject({ id: z.string() });

/** Direct access to a service, without the provider: REST v1 and GraphQL. */
interface DirectAccess {
  rest(method: string, path: string, body?: object): Promise<unknown>;
  graphql(query: string): Promise<unknown>;
}

/** Creates objects as other programs do. Returns the id of the oldest template. */
export async function fillAccount({ rest, graphql }: DirectAccess, counts: ObjectCounts): Promise<string> {
  const create = async (count: number, path: string, body: object): Promise<string> => {
    let oldest = "";
    for (let index = 0; index < count; index++) {
      const { id } = createdShape.parse(await rest("POST", path, { name: `${otherPrefix}${index}`, ...body }));
      oldest ||= id;
    }
    return oldest;
  };
  const templateId = await create(counts.templates, "/templates", { imageName: "other:1", isServerless: true });
  await create(counts.endpoints, "/endpoints", { templateId, workersMax: 0 });
  await create(counts.volumes, "/networkvolumes", { size: 10, dataCenterId: "EU-RO-1" });
  await create(counts.registries, "/containerregistryauth", { username: "u", password: "p" });
  for (let index = 0; index < counts.secrets; index++)
    await graphql(`mutation { secretCreate(input: { name: "${otherPrefix}${index}", value: "v" }) { id } }`);
  return templateId;
}

/** Fills the data folder of a service that is not running. */
export async function fillDataFolder(dataFolder: string, counts: ObjectCounts): Promise<void> {
  const service = await createService({ port: 0, dataFolder, rateLimits: "off", runtime: "none" });
  registerSecret(service.apiKey, "the API key");
  const call = async (method: string, url: string, body: object = {}): Promise<unknown> => {
    const response = await send(method, url, { key: service.apiKey, json: body });
    expectResponse(response, [200, 201]);
    return response.json;
  };
  try {
    await fillAccount(
      {
        rest: (method, path, body) => call(method, `${service.baseUrl}${path}`, body),
        graphql: (query) => call("POST", service.graphqlUrl, { query }),
      },
      counts,
    );
  } finally {
    await service.stop(0);
  }
}
