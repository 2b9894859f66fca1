import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { kinds } from "../../../provider/resources";

const { inputs, outputs } = kinds.ServerlessEndpoint;
const contract = z
  .object({
    routes: z.array(z.object({ method: z.string(), path: z.string() })),
    schemas: z.record(z.string(), z.unknown()),
  })
  .parse(JSON.parse(readFileSync(new URL("../../contract/rest-v2.json", import.meta.url), "utf8")));
const jsonSchema = z.object({
  $ref: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
});

/** Paths of the properties in a schema; an object or a list of objects is represented by its properties. */
function pathsIn(schema: unknown, path: string): string[] {
  const { $ref, properties, items, anyOf = [], oneOf = [] } = jsonSchema.parse(schema ?? {});
  const name = $ref?.slice("#/schemas/".length);
  const parts = [
    ...(name === undefined ? [] : pathsIn(contract.schemas[name], path)),
    ...Object.entries(properties ?? {}).flatMap(([key, child]) => pathsIn(child, path === "" ? key : `${path}.${key}`)),
    ...(items === undefined ? [] : pathsIn(items, `${path}[]`).filter((one) => one !== `${path}[]`)),
    ...[...anyOf, ...oneOf].flatMap((part) => pathsIn(part, path)),
  ].filter((part) => part !== path);
  return parts.length > 0 ? [...new Set(parts)] : [path];
}

const page = readFileSync(new URL("../../../docs/hosted-service.md", import.meta.url), "utf8");
const [, section = ""] = /\n## Coverage of endpoints\n([\s\S]*?)\n## /.exec(page) ?? [];
const rows = [...section.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].map(([, subject = "", text = ""]) => ({
  subject,
  text,
}));
const isRoute = ({ subject }: { subject: string }): boolean => subject.includes(" /");
const namesIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);

test("the coverage table contains every property of an endpoint in the contract", () => {
  const properties = ["EndpointCreate", "EndpointChange", "Endpoint"].flatMap((name) =>
    pathsIn(contract.schemas[name], ""),
  );
  const subjects = rows.filter((row) => !isRoute(row)).map(({ subject }) => subject);
  expect(subjects.toSorted()).toEqual([...new Set(properties)].sort());
});

test("the coverage table contains every request of endpoints in the contract", () => {
  const routes = contract.routes.filter(({ path }) => path.startsWith("/v2/serverless"));
  const subjects = rows.filter(isRoute).map(({ subject }) => subject);
  expect(subjects.toSorted()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
});

test("the coverage table names existing inputs and outputs, and every input that is sent", () => {
  const named = rows.filter((row) => !isRoute(row)).flatMap(({ text }) => namesIn(text));
  const known = ["id", ...Object.keys(inputs.shape), ...Object.keys(outputs.shape)];
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
  const ofProvider = ["verify", "adoptExisting"];
  expect(Object.keys(inputs.shape).filter((key) => !named.includes(key) && !ofProvider.includes(key))).toEqual([]);
});
