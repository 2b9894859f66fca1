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
  /** Expected status of the response to a request with this fault; null where the contract states none. */
  status: number | null;
}

/** A request to a REST API. `path` may be a whole address, with its query. */
export interface ContractRequest {
  method: string;
  path: string;
  /** Added to the query of `path`. */
  query?: Record<string, string>;
  /** The parsed body; undefined for none. */
  body?: unknown;
}

/** A response, and the request that it belongs to. */
export interface ContractResponse {
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

const ajv = new Ajv2020({ allErrors: true, strict: false });
ajv.addFormat("date-time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i);
ajv.addFormat("uri", (value: string) => URL.canParse(value) && !/[{}\s]/.test(value));

const pathPattern = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}/?$`);
const firstWords = (path: string): string => path.split("/", 3).join("/");

/** Reads a contract of test/contract. `shapeFault` is the status of a request that does not fit its schema. */
function openContract(name: string, shapeFault: number) {
  const text: unknown = JSON.parse(readFileSync(new URL(`../contract/${name}.json`, import.meta.url), "utf8"));
  const root = `urn:contract:${name}`;
  ajv.addSchema(schema.parse(text), root);
  const file = contractFile.parse(text);
  // A path without parameters takes precedence over one with them.
  const routes = file.routes
    .map((route, index) => ({ ...route, index, pattern: pathPattern(route.path) }))
    .sort((one, other) => Number(one.path.includes("{")) - Number(other.path.includes("{")));
  return { ...file, root, shapeFault, routes, roots: new Set(routes.map(({ path }) => firstWords(path))) };
}
/** A contract: its routes and schemas. */
export type Contract = ReturnType<typeof openContract>;
type Route = Contract["routes"][number];

/** The contract of REST v2. */
export const contract = openContract("rest-v2", 422);
const described = [openContract("rest-v1", 400), contract];

const addressOf = (path: string): URL => new URL(path, "http://localhost");
/** The contract of a path, with its route if there is one. Paths without a contract count as paths of REST v2. */
function found(method: string, path: string): { of: Contract; route: Route | undefined } {
  const { pathname } = addressOf(path);
  const of = described.find(({ roots }) => roots.has(firstWords(pathname))) ?? contract;
  return { of, route: of.routes.find((route) => route.method === method && route.pattern.test(pathname)) };
}

/** Name of the contract's route for a request, such as `GET /v2/serverless/{id}`; undefined without one. */
export function routeName(method: string, path: string): string | undefined {
  const { route } = found(method, path);
  return route && nameOf(route);
}

/** Returns true for a path of REST v1 or v2, false for the job API, which shares v2's root. */
export const isDescribed = (path: string): boolean =>
  described.some(({ roots }) => roots.has(firstWords(addressOf(path).pathname)));

const nameOf = ({ method, path }: Pick<Route, "method" | "path">): string => `${method} ${path}`;

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

const broken = (route: string, subject: string, errors: ErrorObject[], status: number | null): Violation[] =>
  errors.map((error) => ({
    route,
    property: propertyOf(subject, error),
    status,
    rule: `${error.keyword}: ${error.message ?? "is not allowed"}`,
  }));

const member = (value: unknown, key: string): unknown =>
  value instanceof Object ? Reflect.get(value, key) : undefined;

/** A JSON Schema of a contract. */
export type Schema = z.output<typeof schema>;

/** The schema at a key, if any. */
export function schemaIn(value: unknown, key: string | number): Schema | undefined {
  const { success, data } = schema.safeParse(member(value, String(key)));
  return success ? data : undefined;
}

/** The schemas of a list such as `oneOf`; empty without one. */
export const schemasIn = (list: unknown): Schema[] =>
  Array.isArray(list) ? list.map((_, index) => schemaIn(list, index)).filter((one) => one !== undefined) : [];

/** Follows a reference to a schema of a contract. */
export function resolvedSchema(given: Schema, { schemas }: Pick<Contract, "schemas"> = contract): Schema {
  const reference = given["$ref"];
  const target = typeof reference === "string" ? schemas[reference.replace("#/schemas/", "")] : given;
  if (!target) throw new Error(`the contract has no schema ${reference}`);
  return target;
}

/** The schema of a JSON response, and its contract; undefined where the contract describes no body. */
export function responseSchema(method: string, path: string, status: number) {
  const { of, route } = found(method, path);
  const given = route?.responses[String(status)];
  return given ? { of, schema: given } : undefined;
}

/** The schemas of a route that describe bodies: of its request, and of its successful responses. */
function bodySchemas({ requestBody, responses }: Route): Record<string, Schema[]> {
  const receives = Object.entries(responses).flatMap(([status, body]) => (body && status < "400" ? [body] : []));
  return { sends: requestBody ? [requestBody] : [], receives };
}

/** Paths of the properties that a schema describes, such as `data[].gpu.pools`. */
function describedPaths(given: Schema, of: Contract, path = "", within: readonly Schema[] = []): string[] {
  const schema = resolvedSchema(given, of);
  if (within.includes(schema)) return [];
  const stack = [...within, schema];
  const alternatives = ["oneOf", "anyOf", "allOf"].flatMap((key) => schemasIn(schema[key]));
  const items = schemaIn(schema, "items");
  const properties = Object.keys(schemaIn(schema, "properties") ?? {});
  return [
    ...alternatives.flatMap((one) => describedPaths(one, of, path, stack)),
    ...(items ? describedPaths(items, of, `${path}[]`, stack) : []),
    ...properties.flatMap((key) => {
      const inner = [path, key].filter(Boolean).join(".");
      const member = schemaIn(schema["properties"], key);
      return [inner, ...(member ? describedPaths(member, of, inner, stack) : [])];
    }),
  ];
}

/** The properties that the contract of REST v2 describes, such as `POST /v2/serverless sends gpu.pools`. */
export function describedProperties(): string[] {
  const ofRoute = (route: Route): string[] =>
    Object.entries(bodySchemas(route)).flatMap(([direction, schemas]) =>
      schemas
        .flatMap((given) => describedPaths(given, contract))
        .map((path) => `${nameOf(route)} ${direction} ${path}`),
    );
  return [...new Set(contract.routes.flatMap(ofRoute))];
}

/** Paths of the properties of a value, in the form of `describedProperties`. */
export function propertyPaths(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((element) => propertyPaths(element, `${path}[]`)))];
  if (!(value instanceof Object)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const inner = [path, key].filter(Boolean).join(".");
    return [inner, ...propertyPaths(member, inner)];
  });
}

/** Converts a query parameter to its schema's type: commas separate list items. Text that is not a number stays text. */
function queryValue(of: Contract, value: string, given: Schema | undefined): unknown {
  const type = given && resolvedSchema(given, of)["type"];
  if (type === "array") return value.split(",");
  if (type === "integer" && /^-?\d+$/.test(value)) return Number(value);
  if (type === "boolean" && /^(?:true|false)$/.test(value)) return value === "true";
  return value;
}

/** Violations of the contract by a request; empty for a request that the hosted service accepts. */
export function requestViolations({ method, path, query = {}, body }: ContractRequest): Violation[] {
  const { of, route } = found(method, path);
  if (!route) {
    const status = of.routes.some(({ pattern }) => pattern.test(addressOf(path).pathname)) ? 405 : 404;
    return [{ route: `${method} ${addressOf(path).pathname}`, property: "route", rule: "is unknown", status }];
  }
  const name = nameOf(route);
  const at = `/routes/${route.index}`;
  const sent = { ...Object.fromEntries(addressOf(path).searchParams), ...query };
  const parameters = Object.fromEntries(
    Object.entries(sent).map(([key, value]) => [key, queryValue(of, value, schemaIn(route.query["properties"], key))]),
  );
  const rules = route.rules.flatMap(({ of: subject, status, why }, index) =>
    errorsAt(of, `${at}/rules/${index}/schema`, subject === "body" ? body : parameters).length > 0
      ? [{ route: name, property: subject, rule: why, status }]
      : [],
  );
  const ofQuery = broken(name, "query", errorsAt(of, `${at}/query`, parameters), of.shapeFault);
  if (route.requestBody === null) {
    const extra = { route: name, property: "body", rule: "has no body", status: null };
    return [...ofQuery, ...rules, ...(body === undefined ? [] : [extra])];
  }
  return [...ofQuery, ...broken(name, "body", errorsAt(of, `${at}/requestBody`, body), of.shapeFault), ...rules];
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Violations of the contract by a response: status, media type, headers, body. */
export function responseViolations({ method, path, status, headers, body }: ContractResponse): Violation[] {
  const { of, route } = found(method, path);
  const name = route ? nameOf(route) : `${method} ${addressOf(path).pathname}`;
  const violation = (property: string, rule: string): Violation => ({ route: name, property, rule, status: null });
  const sent = new Headers(headers);
  const faults = Object.keys(of.headers).flatMap((header) => {
    const value = sent.get(header);
    return value === null ? [] : broken(name, `headers.${header}`, errorsAt(of, `/headers/${header}`, value), null);
  });
  for (const [withStatus, header] of [[429, "Retry-After"] as const, [405, "Allow"] as const]) {
    if (status === withStatus && Object.hasOwn(of.headers, header) && !sent.has(header))
      faults.push(violation(`headers.${header}`, `is required with ${withStatus}`));
  }

  const listed = route?.responses[String(status)];
  if (listed === null) return body === "" ? faults : [...faults, violation("body", `must be empty with ${status}`)];
  if (listed === undefined && status < 400)
    return [...faults, violation("status", `${status} is not a status of this route`)];
  const mediaType =
    status >= 400 ? of.defaults.errorContentType : (route?.contentType[String(status)] ?? "application/json");
  if (!sent.get("content-type")?.startsWith(mediaType))
    faults.push(violation("headers.Content-Type", `must be ${mediaType}`));
  if (mediaType === "text/event-stream") return faults;
  const pointer =
    route && listed !== undefined ? `/routes/${route.index}/responses/${status}` : "/schemas/ErrorResponse";
  return [...faults, ...broken(name, "body", errorsAt(of, pointer, parsed(body)), null)];
}
