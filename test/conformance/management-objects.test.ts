import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Fields } from "../support/local-service";
import { expectResponse, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { uniqueName, useAccount } from "./support/account";

const target = await useTarget();
const account = useAccount(target);

/** A kind of object of REST v1. */
interface Noun {
  path: string;
  /** A body of POST; the record contains the same, except for `unshown`. */
  body(): Promise<Fields>;
  unshown?: string[];
  required: string[];
  /** True if two objects cannot have the same name. */
  hasUniqueName?: true;
  /** A body of PATCH; undefined if the kind cannot be changed. */
  change?: Fields;
}

const nouns: Noun[] = [
  {
    path: "/endpoints",
    body: async () => ({
      name: uniqueName("endpoint"),
      templateId: await account.template(),
      gpuTypeIds: ["NVIDIA L4", "NVIDIA A40"],
      workersMin: 0,
      workersMax: 2,
      idleTimeout: 7,
    }),
    required: ["templateId"],
    change: { workersMax: 4 },
  },
  {
    path: "/templates",
    body: async () => ({
      name: uniqueName("template"),
      imageName: "conformance/none:1",
      isServerless: true,
      volumeInGb: 0,
      containerDiskInGb: 12,
      env: { MODEL: "mistral-7b" },
      ports: ["8888/http", "22/tcp"],
      readme: "## Hello",
      dockerStartCmd: ["python3", "-u", "handler.py"],
    }),
    required: ["name", "imageName"],
    hasUniqueName: true,
    change: { imageName: "conformance/other:2" },
  },
  {
    path: "/networkvolumes",
    body: async () => ({ name: uniqueName("volume"), size: 10, dataCenterId: "EU-RO-1" }),
    required: ["name", "size", "dataCenterId"],
    change: { size: 20, name: "renamed" },
  },
  {
    path: "/containerregistryauth",
    body: async () => ({ name: uniqueName("registry"), username: "reader", password: "hush" }),
    unshown: ["username", "password"],
    required: ["name", "username", "password"],
    hasUniqueName: true,
  },
];

const schema = z.looseObject({ $ref: z.string().optional(), properties: z.record(z.string(), z.unknown()).optional() });
const contract = z
  .object({
    routes: z.array(z.object({ method: z.string(), path: z.string(), requestBody: schema.nullable() })),
    schemas: z.record(z.string(), schema),
  })
  .parse(JSON.parse(readFileSync(new URL("../contract/rest-v1.json", import.meta.url), "utf8")));

/** The properties that the description of REST v1 has for a body. */
function describedProperties(method: string, path: string): string[] {
  const route = contract.routes.find((one) => one.method === method && one.path === `/v1${path}`);
  const described = contract.schemas[route?.requestBody?.$ref?.split("/").at(-1) ?? ""];
  return Object.keys(described?.properties ?? {});
}

/** The part of a body that a record contains. */
const shownOf = ({ unshown = [] }: Noun, body: Fields): Fields =>
  Object.fromEntries(Object.entries(body).filter(([key]) => !unshown.includes(key)));

describe.each(nouns)("REST management API: $path", (noun) => {
  const { path, required, change } = noun;
  const make = async (): Promise<{ own: string; shown: Fields }> => {
    const body = await noun.body();
    const created = await account.rest("POST", path, body);
    expectResponse(created, 200, shownOf(noun, body));
    return {
      own: `${path}/${stringAt(created, "id")}`,
      shown: { id: stringAt(created, "id"), ...shownOf(noun, body) },
    };
  };

  test(`POST ${path} and GET return the record; GET of the collection returns a bare array that contains it`, async () => {
    const { own, shown } = await make();
    const [read, list] = [await account.rest("GET", own), await account.rest("GET", path)];
    expectResponse(read, 200, shown);
    expect(list.json).toEqual(expect.arrayContaining([expect.objectContaining(shown)]));
    for (const hidden of noun.unshown ?? []) expect([read.text, list.text].join()).not.toContain(`"${hidden}"`);
    expectResponse(await account.rest("DELETE", own), 204);
  });

  test(`GET ${path}/{id} of an unknown id returns 404, DELETE 400, each with a message`, async () => {
    for (const [method, status] of [["GET", 404] as const, ["DELETE", 400] as const]) {
      const response = await account.rest(method, `${path}/nosuch`);
      expectResponse(response, status);
      expect(stringAt(response, "message")).not.toBe("");
    }
  });

  const changes = [
    ["PATCH", ""],
    ["POST", "/update"],
  ] as const;
  for (const [method, suffix] of change === undefined ? [] : changes) {
    test(`${method} ${path}/{id}${suffix} changes the named fields and no other; an unknown id returns 404`, async () => {
      const { own, shown } = await make();
      expectResponse(await account.rest(method, `${own}${suffix}`, change), 200, { ...shown, ...change });
      expectResponse(await account.rest("GET", own), 200, { ...shown, ...change });
      expectResponse(await account.rest(method, `${path}/nosuch${suffix}`, change), 404);
      expectResponse(await account.rest("DELETE", own), 204);
    });
  }

  test(`DELETE ${path}/{id} returns 204 without a body; the object is gone`, async () => {
    const { own } = await make();
    const response = await account.rest("DELETE", own);
    expectResponse(response, 204);
    expect(response.text).toBe("");
    expectResponse(await account.rest("GET", own), 404);
    expectResponse(await account.rest("DELETE", own), 400);
  });

  test(`a body for ${path} in which a property is null returns 400 and names it`, async () => {
    const { own } = await make();
    const bodies = [
      ["POST", path, path, await noun.body()] as const,
      ...(change === undefined ? [] : changes).map(
        ([method, suffix]) => [method, `${path}/{id}${suffix}`, `${own}${suffix}`, {}] as const,
      ),
    ];
    for (const [method, described, target, body] of bodies) {
      const properties = describedProperties(method, described);
      expect(properties.length, `${method} ${described}`).toBeGreaterThan(1);
      for (const property of properties) {
        const response = await account.rest(method, target, { ...body, [property]: null });
        expect([method, property, response.status]).toEqual([method, property, 400]);
        expect(stringAt(response, "message")).toContain(property);
      }
    }
    expectResponse(await account.rest("DELETE", own), 204);
  });

  if (noun.hasUniqueName) {
    test(`POST ${path} with an existing name returns 400`, async () => {
      const { own, shown } = await make();
      const response = await account.rest("POST", path, { ...(await noun.body()), name: shown["name"] });
      expectResponse(response, 400);
      expect(stringAt(response, "message")).toContain("unique");
      expectResponse(await account.rest("DELETE", own), 204);
    });
  }

  test.each(required)(`POST ${path} without %s returns 400 and names it`, async (field) => {
    const response = await account.rest("POST", path, { ...(await noun.body()), [field]: undefined });
    expectResponse(response, 400);
    expect(stringAt(response, "message")).toContain(field);
    expect(response.text).not.toContain("hush");
  });
});
