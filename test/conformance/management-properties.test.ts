import { describe, expect, test } from "vitest";
import type { Fields } from "../support/local-service";
import { propertyTable } from "../support/properties";
import { type Api, apis, type Kind, kinds, type Property } from "../support/properties/property";
import { at, expectResponse, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { uniqueName, useAccount } from "./support/account";
import { describedFields, propertyRequests } from "./support/property-requests";
import { useRestV2 } from "./support/rest-v2";

const target = await useTarget({ templateRelease: 0, rateLimits: "off" });
const account = useAccount(target);
const requests = propertyRequests(account, useRestV2(target, account));

async function newRegistry(): Promise<string> {
  const login = { name: uniqueName("registry"), username: "reader", password: "hush-hush" };
  return stringAt(await account.rest("POST", "/containerregistryauth", login), "id");
}
const table = propertyTable({
  templates: [await account.template(), await account.template()],
  volumes: [await account.volume(), await account.volume(), await account.volume()],
  registries: [await newRegistry(), await newRegistry()],
});

/** Fields that no row has, because an object keeps them or the service ignores them. */
const otherFields: Record<Kind, string[]> = {
  template: ["id"],
  endpoint: [
    ...["id", "type", "computeType", "template", "templateId", "userId"],
    ...["hubReleaseId", "bindEndpoint", "modelName"],
  ],
};

/** Each API with the property: its requests, and the fields of a new and of a changed object with a value. */
const writersOf = (kind: Kind, { write, base }: Property) =>
  apis.flatMap((api) => {
    const body = write[api];
    if (body === undefined) return [];
    const newFields = (value: unknown): Fields => ({ ...base[api], ...body(value) });
    // A mutation replaces the whole object.
    return [{ api, ...requests[kind][api], body, newFields, changedFields: api === "graphql" ? newFields : body }];
  });

/** Paths of the values in a body. */
const pathsIn = (fields: object): string[] =>
  Object.entries(fields).flatMap(([key, value]) =>
    value instanceof Object && !Array.isArray(value) ? pathsIn(value).map((path) => `${key}\\.${path}`) : [key],
  );

const rejection: Record<Api, { statuses: number[]; message: (string | number)[] }> = {
  v1: { statuses: [400], message: ["message"] },
  v2: { statuses: [400, 422], message: ["detail"] },
  graphql: { statuses: [200, 400], message: ["errors", 0, "message"] },
};

describe.each(kinds)("Management APIs: each property of a new and changed %s", (kind) => {
  const rows = table[kind].map((property) => ({ title: property.name, ...property }));

  test.each(rows)("$title has the same value in every API", async (property) => {
    const { values, read } = property;
    for (const { api, create, idOf, change, newFields, changedFields } of writersOf(kind, property)) {
      const created = await create(newFields(values[0]));
      const id = idOf(created);
      for (const value of values) {
        if (value !== values[0]) expectResponse(await change(id, changedFields(value)), 200);
        for (const reader of apis) {
          const shown = read[reader]?.(value);
          if (shown === undefined) continue;
          const record = await requests[kind][reader].read(id, shown);
          expect(record, `${reader} after ${api}: ${created.text}`).toMatchObject(shown);
        }
      }
      await account.rest("DELETE", `/${kind}s/${id}`);
    }
  });

  const tags = (name: string) => (name.endsWith("ports") ? { tags: ["reading:port-protocols"] } : {});
  for (const property of table[kind].filter(({ wrong }) => wrong.length > 0)) {
    test(`wrong values of ${property.name} are rejected by name`, tags(property.name), async () => {
      for (const { api, create, idOf, change, body, newFields, changedFields } of writersOf(kind, property)) {
        const id = idOf(await create(newFields(property.values[0])));
        const { statuses, message } = rejection[api];
        for (const value of property.wrong) {
          for (const response of [await create(newFields(value)), await change(id, changedFields(value))]) {
            expectResponse(response, statuses);
            const text =
              stringAt(response, ...message) + (api === "v2" ? JSON.stringify(at(response.json, "errors")) : "");
            expect(text).toMatch(new RegExp(`(^|["\\[]|input\\.)(${pathsIn(body(value)).join("|")})\\b`));
          }
        }
        await account.rest("DELETE", `/${kind}s/${id}`);
      }
    });
  }

  test.each(apis)("the rows contain every field of a request of %s", async (api) => {
    const written = table[kind].flatMap(({ values, write, base }) => [
      ...Object.keys(write[api]?.(values[0]) ?? {}),
      ...Object.keys(write[api] ? (base[api] ?? {}) : {}),
    ]);
    const described = await describedFields(account, api, kind);
    expect(described.length).toBeGreaterThan(5);
    expect(described.filter((name) => !written.includes(name) && !otherFields[kind].includes(name))).toEqual([]);
  });
});
