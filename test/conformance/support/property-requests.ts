import { readFileSync } from "node:fs";
import { z } from "zod";
import type { Fields } from "../../support/local-service";
import type { Api, Kind } from "../../support/properties/property";
import { at, type RawResponse } from "../../support/raw-http";
import { type Account, literal, templateFields, uniqueName } from "./account";
import type { useRestV2 } from "./rest-v2";

/** The requests of an API for the objects of a kind. */
interface PropertyRequests {
  create(fields: Fields): Promise<RawResponse>;
  /** Id of an object in the response of `create`. */
  idOf(response: RawResponse): string;
  change(id: string, fields: Fields): Promise<RawResponse>;
  /** The fields of an object that `shown` has. */
  read(id: string, shown: Fields): Promise<unknown>;
}

/** A GraphQL selection of the fields that `shown` has; values of the type JSON have no fields. */
const selection = (shown: Fields): string =>
  Object.entries(shown)
    .map(([name, value]) => {
      const [item] = [value].flat();
      return item instanceof Object && name !== "config" ? `${name} { ${selection({ ...item })} }` : name;
    })
    .join(" ");

/** Creates the requests of each API. The fields of a request are added to those that a new object requires. */
export function propertyRequests(
  account: Account,
  { call, endpointBody }: ReturnType<typeof useRestV2>,
): Record<Kind, Record<Api, PropertyRequests>> {
  const inRest = (
    request: Account["rest"],
    path: string,
    required: () => Promise<Fields> | Fields,
    query = "",
  ): PropertyRequests => ({
    create: async (fields) => request("POST", path, { ...(await required()), ...fields }),
    idOf: ({ json }) => String(at(json, "id")),
    change: (id, fields) => request("PATCH", `${path}/${id}`, fields),
    read: async (id) => (await request("GET", `${path}/${id}${query}`)).json,
  });
  /** A mutation that creates an object, or replaces the object with an id. */
  const inGraphql = (
    [mutation, type]: [string, string],
    required: () => Promise<Fields> | Fields,
    read: PropertyRequests["read"],
  ): PropertyRequests => {
    const save = async (fields: Fields): Promise<RawResponse> =>
      account.graphql(`mutation ($input: ${type}!) { ${mutation}(input: $input) { id } }`, {
        input: { ...(await required()), ...fields },
      });
    return {
      create: save,
      idOf: ({ json }) => String(at(json, "data", mutation, "id")),
      change: (id, fields) => save({ id, ...fields }),
      read,
    };
  };
  const queried = async (query: string, ...path: string[]): Promise<unknown> =>
    at((await account.graphql(query)).json, "data", ...path);

  const template = { name: uniqueName("template"), isServerless: true, imageName: "conformance/none:1" };
  const newTemplate = (): Fields => ({ ...template, name: uniqueName("template"), volumeInGb: 0 });
  const newEndpoint = async (): Promise<Fields> => ({
    name: uniqueName("endpoint"),
    templateId: await account.template(),
  });
  return {
    template: {
      v1: inRest(account.rest, "/templates", newTemplate),
      v2: inRest(call, "/templates", () => ({
        name: uniqueName("template"),
        image: "conformance/none:1",
        serverless: true,
      })),
      graphql: inGraphql(["saveTemplate", "SaveTemplateInput"], templateFields, (id, shown) =>
        queried(`{ podTemplate(id: ${literal(id)}) { ${selection(shown)} } }`, "podTemplate"),
      ),
    },
    endpoint: {
      v1: inRest(account.rest, "/endpoints", newEndpoint, "?includeTemplate=true"),
      v2: inRest(call, "/serverless", () => endpointBody({ workers: { min: 0, max: 3 } })),
      graphql: inGraphql(["saveEndpoint", "EndpointInput"], newEndpoint, (id, shown) =>
        queried(`{ myself { endpoint(id: ${literal(id)}) { ${selection(shown)} } } }`, "myself", "endpoint"),
      ),
    },
  };
}

const contractShape = z.object({
  schemas: z.record(z.string(), z.object({ properties: z.record(z.string(), z.unknown()).optional() })),
});
const inputShape = z.array(z.object({ name: z.string() }));

/** Names of the fields of a new object, from the contracts of REST v1 and v2, and from the GraphQL schema. */
export async function describedFields(account: Account, api: Api, kind: Kind): Promise<string[]> {
  if (api === "graphql") {
    const type = { template: "SaveTemplateInput", endpoint: "EndpointInput" }[kind];
    const { json } = await account.graphql(`{ __type(name: "${type}") { inputFields { name } } }`);
    return inputShape.parse(at(json, "data", "__type", "inputFields")).map(({ name }) => name);
  }
  const text = readFileSync(new URL(`../../contract/rest-${api}.json`, import.meta.url), "utf8");
  const { schemas } = contractShape.parse(JSON.parse(text));
  const schema = schemas[{ template: "TemplateCreate", endpoint: "EndpointCreate" }[kind]];
  return Object.keys(schema?.properties ?? {});
}
