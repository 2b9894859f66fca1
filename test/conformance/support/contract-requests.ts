import fc from "fast-check";
import { type contract, requestViolations, resolvedSchema, type Schema, schemaIn } from "../../support/contract";
import { faultsOf, type KnownValues, valuesOf } from "./schema-values";

export type Route = (typeof contract.routes)[number];

/** A request generated from a route's schemas. The path still contains its parameters, such as `{id}`. */
export interface GeneratedRequest {
  query: Record<string, string>;
  /** Undefined for a request without a body. */
  body: unknown;
  /** The fault of an invalid request. */
  fault?: string;
}

const bodySchema = ({ requestBody }: Route): Schema | undefined => requestBody ?? undefined;
const parameters = ({ query }: Route): Schema => schemaIn(query, "properties") ?? {};

const violationsOf = ({ method, path }: Route, { query, body }: GeneratedRequest) =>
  requestViolations({ method, path: path.replaceAll(/\{\w+\}/g, "some-id"), query, body });

/** Parameters without generated values: a cursor is valid only if a response contained it. */
const withoutMeaning = new Set(["cursor"]);

function queriesOf(route: Route, known: KnownValues): fc.Arbitrary<Record<string, string>> {
  const one = Object.keys(parameters(route)).filter((name) => !withoutMeaning.has(name));
  const members = one.map((name) => {
    const schema = resolvedSchema(schemaIn(parameters(route), name) ?? {});
    const ofSchema = valuesOf({ ...schema, ...(schema["type"] === "array" && { minItems: 1 }) }, {});
    const values = (Object.hasOwn(known, name) && known[name]) || ofSchema;
    return [name, values.map((value) => (Array.isArray(value) ? value.join(",") : String(value)))] as const;
  });
  return fc
    .record(Object.fromEntries(members), { requiredKeys: [], noNullPrototype: true })
    .map((query) => Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])));
}

/** Requests in the shape of a route, some with a violation. */
export function shapedRequests(route: Route, known: KnownValues): fc.Arbitrary<GeneratedRequest> {
  const body = bodySchema(route);
  return fc.record({ query: queriesOf(route, known), body: body ? valuesOf(body, known) : fc.constant(undefined) });
}

/** Returns true if a request has no violation. */
export const isValid = (route: Route, request: GeneratedRequest): boolean => violationsOf(route, request).length === 0;

/** Statuses that the contract allows for a request that breaks it; empty for a valid request. */
export const refusals = (route: Route, request: GeneratedRequest): number[] => [
  ...new Set(violationsOf(route, request).flatMap(({ status }) => status ?? [400, 422])),
];

/** Values of a query parameter, some of them invalid. */
const oddTexts = ["", "NO_SUCH", "0", "-1", "1.5", "99999999", "maybe"];

/** Samples of a route's requests that contain every optional property. */
const samples = 60;

/** Requests with one violation each: every fault of a body and of a query parameter, and forbidden combinations. */
export function invalidRequests(route: Route, known: KnownValues, seed: number): GeneratedRequest[] {
  const shaped = fc.sample(shapedRequests(route, known), { seed, numRuns: samples });
  const valid = shaped.filter((request) => isValid(route, request));
  const body = bodySchema(route);
  const inBody = body
    ? valid.flatMap(({ query, body: fitting }) =>
        faultsOf(body, fitting).map(({ at, value }) => ({ query, body: value, fault: `body ${at}` })),
      )
    : [];
  const [first] = valid;
  const inQuery = Object.keys(parameters(route)).flatMap((name) =>
    oddTexts
      .filter((text) => !isValid(route, { query: { [name]: text }, body: undefined }))
      .map((text) => ({ query: { ...first?.query, [name]: text }, body: first?.body, fault: `query ${name}=${text}` })),
  );
  const combined = shaped.map((request) => ({ ...request, fault: `combination ${JSON.stringify(request.query)}` }));
  const invalid = [...inBody, ...inQuery, ...combined].filter((request) => !isValid(route, request));
  return [...new Map(invalid.map((request) => [request.fault, request])).values()];
}
