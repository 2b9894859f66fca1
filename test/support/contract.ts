import { readFileSync } from "node:fs";
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { z } from "zod";

/** A violation of a contract: of REST v2, or of REST v1 as far as it is described. */
export interface Violation {
  /** Method and path of the contract, or of the request if the contract has no such route. */
  route: string;
  /** The property, such as `body.gpu.pools`, `query.limit`, `status` or `headers.RateLimit`. */
  property: string;
  rule: string;
  /** Expected status of the response to a request with this fault; null if the contract states none. */
  status: number | null;
}

/** A request to a REST API. `path` may be a whole address, with its query. */
interface ContractRequest {
  method: string;
  path: string;
  /** Added to the query of `path`. */
  query?: Record<string, string>;
  /** The parsed body; undefined for none. */
  body?: unknown;
}

/** A response, and the request that it belongs to. */
interface ContractResponse {
  method: string;
  path: string;
  status: number;
  headers: Headers | Record<string, string>;
  /** The body as text; empty for none. */
  body: string;
}

const schema = z.record(z.string(), z.unknown());
const contractFile = z.object({
  defaults: z.looseObject({ errorContentType: z.string() }),
  headers: z.record(z.string(), schema),
  routes: z.array(
    z.object({
      method: z.string(),
      path: z.string(),
      query: schema,
      requestBody: schema.nullable(),
      responses: z.record(z.string(), schema.nullable()),
      contentType: z.record(z.string(), z.string()).default({}),
      rules: z
        .array(z.object({ of: z.enum(["body", "query"]), status: z.number().nullable(), why: z.string() }))
        .default([]),
    }),
  ),
  schemas: z.record(z.string(), schema),
});

// The check of the documents against the meta-schema covers no schema inside them.
const ajv = new Ajv2020({ allErrors: true, strict: false, validateSchema: false });
ajv.addFormat("date-time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i);
ajv.addFormat("uri", (value: string) => URL.canParse(value) && !/[{}\s]/.test(value));

const pathPattern = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}/?$`);
const firstWords = (path: string): string => path.split("/", 3).join("/");

/** Reads a contract of test/contract. `shapeFault` is the status of a request that does not fit its schema. */
function openContract(name: string, schemaFaultStatus: number) {
  const text: unknown = JSON.parse(readFileSync(new URL(`../contract/${name}.json`, import.meta.url), "utf8"));
  const root = `urn:contract:${name}`;
  ajv.addSchema(schema.parse(text), root);
  const file = contractFile.parse(text);
  // A literal path takes precedence over a path with parameters.
  const routes = file.routes
    .map((route, index) => ({ ...route, index, pattern: pathPattern(route.path) }))
    .sort((schema, other) => Number(schema.path.includes("{")) - Number(other.path.includes("{")));
  return { ...file, root, schemaFaultStatus, routes, roots: new Set(routes.map(({ path }) => firstWords(path))) };
}
/** A contract: its routes and schemas. */
export type Contract = ReturnType<typeof openContract>;
type Route = Contract["routes"][number];

/** The contract of REST v2. */
export const contract = openContract("rest-v2", 422);
const describedContracts = [openContract("rest-v1", 400), contract];

const addressOf = (path: string): URL => new URL(path, "http://localhost");
/** The contract of a path, with its route if there is one. Paths without a contract count as paths of REST v2. */
function findRoute(method: string, path: string): { contract: Contract; route: Route | undefined } {
  const { pathname } = addressOf(path);
  const described = describedContracts.find(({ roots }) => roots.has(firstWords(pathname))) ?? contract;
  return {
    contract: described,
    route: described.routes.find((route) => route.method === method && route.pattern.test(pathname)),
  };
}

/** Name of the contract's route for a request, such as `GET /v2/serverless/{id}`; undefined without one. */
export function routeName(method: string, path: string): string | undefined {
  const { route } = findRoute(method, path);
  return route && routeNameOf(route);
}

/** Returns true for a path of REST v1 or v2, false for the job API, which shares v2's root. */
export const isDescribed = (path: string): boolean =>
  describedContracts.some(({ roots }) => roots.has(firstWords(addressOf(path).pathname)));

const routeNameOf = ({ method, path }: Pick<Route, "method" | "path">): string => `${method} ${path}`;

/** The errors of a value by the schema at a JSON pointer of the contract. */
function errorsAt({ root }: Contract, pointer: string, value: unknown): ErrorObject[] {
  const validate = ajv.getSchema(`${root}#${pointer}`);
  if (!validate) throw new Error(`${root} has no schema at ${pointer}`);
  return validate(value) === true ? [] : (validate.errors ?? []);
}

const propertyOf = (subject: string, { instancePath, params }: ErrorObject): string => {
  const key = [params["additionalProperty"], params["missingProperty"]].filter((name) => name !== undefined);
  return [subject, ...instancePath.split("/").slice(1), ...key].join(".");
};

const violationsOf = (route: string, subject: string, errors: ErrorObject[], status: number | null): Violation[] =>
  errors.map((error) => ({
    route,
    property: propertyOf(subject, error),
    status,
    rule: `${error.keyword}: ${error.message ?? "is not allowed"}`,
  }));

const memberOf = (value: unknown, key: string): unknown =>
  value instanceof Object ? Reflect.get(value, key) : undefined;

/** A JSON Schema of a contract. */
export type Schema = z.output<typeof schema>;

/** The schema at a key, if any. */
export function schemaIn(value: unknown, key: string | number): Schema | undefined {
  const { success, data } = schema.safeParse(memberOf(value, String(key)));
  return success ? data : undefined;
}

/** The schemas of a list such as `oneOf`; empty without one. */
export const schemasIn = (list: unknown): Schema[] =>
  Array.isArray(list) ? list.map((_, index) => schemaIn(list, index)).filter((schema) => schema !== undefined) : [];

/** Follows a reference to a schema of a contract. */
export function resolvedSchema(schema: Schema, { schemas }: Pick<Contract, "schemas"> = contract): Schema {
  const reference = schema["$ref"];
  const target = typeof reference === "string" ? schemas[reference.replace("#/schemas/", "")] : schema;
  if (!target) throw new Error(`the contract has no schema ${reference}`);
  return target;
}

/** The schema of a JSON response, and its contract; undefined if the contract describes no body. */
export function responseSchema(method: string, path: string, status: number) {
  const { contract, route } = findRoute(method, path);
  const schema = route?.responses[String(status)];
  return schema ? { contract, schema } : undefined;
}

/** The schemas of a route that describe bodies: of its request, and of its successful responses. */
function bodySchemas({ requestBody, responses }: Route): Record<string, Schema[]> {
  const receives = Object.entries(responses).flatMap(([status, body]) => (body && status < "400" ? [body] : []));
  return { sends: requestBody ? [requestBody] : [], receives };
}

/** Paths of the properties that a schema describes, such as `data[].gpu.pools`. */
function describedPaths(
  schemaOrReference: Schema,
  contract: Contract,
  path = "",
  ancestors: readonly Schema[] = [],
): string[] {
  const schema = resolvedSchema(schemaOrReference, contract);
  if (ancestors.includes(schema)) return [];
  const stack = [...ancestors, schema];
  const alternatives = ["oneOf", "anyOf", "allOf"].flatMap((key) => schemasIn(schema[key]));
  const items = schemaIn(schema, "items");
  const properties = Object.keys(schemaIn(schema, "properties") ?? {});
  return [
    ...alternatives.flatMap((schema) => describedPaths(schema, contract, path, stack)),
    ...(items ? describedPaths(items, contract, `${path}[]`, stack) : []),
    ...properties.flatMap((key) => {
      const inner = [path, key].filter(Boolean).join(".");
      const memberOf = schemaIn(schema["properties"], key);
      return [inner, ...(memberOf ? describedPaths(memberOf, contract, inner, stack) : [])];
    }),
  ];
}

/** The properties that the contract of REST v2 describes, such as `POST /v2/serverless sends gpu.pools`. */
export function describedProperties(): string[] {
  const propertiesOfRoute = (route: Route): string[] =>
    Object.entries(bodySchemas(route)).flatMap(([direction, schemas]) =>
      schemas
        .flatMap((schema) => describedPaths(schema, contract))
        .map((path) => `${routeNameOf(route)} ${direction} ${path}`),
    );
  return [...new Set(contract.routes.flatMap(propertiesOfRoute))];
}

/** Paths of the properties of a value, in the form of `describedProperties`. */
export function propertyPaths(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((element) => propertyPaths(element, `${path}[]`)))];
  if (!(value instanceof Object)) return [];
  return Object.entries(value).flatMap(([key, memberOf]) => {
    const inner = [path, key].filter(Boolean).join(".");
    return [inner, ...propertyPaths(memberOf, inner)];
  });
}

/** Converts a query parameter to its schema's type: commas separate list items. Text that is not a number stays text. */
function queryValue(contract: Contract, value: string, schema: Schema | undefined): unknown {
  const type = schema && resolvedSchema(schema, contract)["type"];
  if (type === "array") return value.split(",");
  if (type === "integer" && /^-?\d+$/.test(value)) return Number(value);
  if (type === "boolean" && /^(?:true|false)$/.test(value)) return value === "true";
  return value;
}

/** Violations of the contract by a request; empty for a request that the hosted service accepts. */
export function requestViolations({ method, path, query = {}, body }: ContractRequest): Violation[] {
  const { contract, route } = findRoute(method, path);
  if (!route) {
    const status = contract.routes.some(({ pattern }) => pattern.test(addressOf(path).pathname)) ? 405 : 404;
    return [{ route: `${method} ${addressOf(path).pathname}`, property: "route", rule: "is unknown", status }];
  }
  const name = routeNameOf(route);
  const pointer = `/routes/${route.index}`;
  const queryTexts = { ...Object.fromEntries(addressOf(path).searchParams), ...query };
  const parameters = Object.fromEntries(
    Object.entries(queryTexts).map(([key, value]) => [
      key,
      queryValue(contract, value, schemaIn(route.query["properties"], key)),
    ]),
  );
  const rules = route.rules.flatMap(({ of: subject, status, why }, index) =>
    errorsAt(contract, `${pointer}/rules/${index}/schema`, subject === "body" ? body : parameters).length > 0
      ? [{ route: name, property: subject, rule: why, status }]
      : [],
  );
  const queryViolations = violationsOf(
    name,
    "query",
    errorsAt(contract, `${pointer}/query`, parameters),
    contract.schemaFaultStatus,
  );
  if (route.requestBody === null) {
    const bodyViolation = { route: name, property: "body", rule: "has no body", status: null };
    return [...queryViolations, ...rules, ...(body === undefined ? [] : [bodyViolation])];
  }
  return [
    ...queryViolations,
    ...violationsOf(name, "body", errorsAt(contract, `${pointer}/requestBody`, body), contract.schemaFaultStatus),
    ...rules,
  ];
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Violations of the contract by a response: status, media type, headers, body. */
export function responseViolations({ method, path, status, headers, body }: ContractResponse): Violation[] {
  const { contract, route } = findRoute(method, path);
  const name = route ? routeNameOf(route) : `${method} ${addressOf(path).pathname}`;
  const violation = (property: string, rule: string): Violation => ({ route: name, property, rule, status: null });
  const query = new Headers(headers);
  const faults = Object.keys(contract.headers).flatMap((header) => {
    const value = query.get(header);
    return value === null
      ? []
      : violationsOf(name, `headers.${header}`, errorsAt(contract, `/headers/${header}`, value), null);
  });
  for (const [withStatus, header] of [[429, "Retry-After"] as const, [405, "Allow"] as const]) {
    if (status === withStatus && Object.hasOwn(contract.headers, header) && !query.has(header))
      faults.push(violation(`headers.${header}`, `is required with ${withStatus}`));
  }

  const bodySchema = route?.responses[String(status)];
  if (bodySchema === null) return body === "" ? faults : [...faults, violation("body", `must be empty with ${status}`)];
  if (bodySchema === undefined && status < 400)
    return [...faults, violation("status", `${status} is not a status of this route`)];
  const mediaType =
    status >= 400 ? contract.defaults.errorContentType : (route?.contentType[String(status)] ?? "application/json");
  if (!query.get("content-type")?.startsWith(mediaType))
    faults.push(violation("headers.Content-Type", `must be ${mediaType}`));
  if (mediaType === "text/event-stream") return faults;
  const pointer =
    route && bodySchema !== undefined ? `/routes/${route.index}/responses/${status}` : "/schemas/ErrorResponse";
  return [...faults, ...violationsOf(name, "body", errorsAt(contract, pointer, parseJson(body)), null)];
}
