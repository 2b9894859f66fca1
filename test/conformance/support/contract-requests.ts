import fc from "fast-check";
import { type contract, requestViolations, resolvedSchema, type Schema, schemaIn } from "../../support/contract";
import { faultsOf, type KnownValues, valuesOf } from "./schema-values";

export type Route = (typeof contract.routes)[number];

/** A request generated from a route's schemas. The path still contains its parameters, such as `{id}`. */
export interface GeneratedRequest {
  query: Record<string, string>;
  /** Undefined for none. */
  body: unknown;
  /** The fault of an invalid request. */
  fault?: string;
}

const bodySchema = ({ requestBody }: Route): Schema | undefined => requestBody ?? undefined;
const parameters = ({ query }: Route): Schema => schemaIn(query, "properties") ?? {};

const violationsOf = ({ method, path }: Route, { query, body }: GeneratedRequest) =>
  requestViolations({ method, path: path.replaceAll(/\{\w+\}/g, "some-id"), query, body });

/** A cursor is valid only where a response gave it. */
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

/** Returns true for a request without a violation. */
export const isValid = (route: Route, request: GeneratedRequest): boolean => violationsOf(route, request).length === 0;

/** Statuses that the contract allows for a request that breaks it; empty for a valid request. */
export const refusals = (route: Route, request: GeneratedRequest): number[] => [
  ...new Set(violationsOf(route, request).flatMap(({ status }) => status ?? [400, 422])),
];

/** Values of a query parameter, some of which do not fit. */
const oddTexts = ["", "NO_SUCH", "0", "-1", "1.5", "99999999", "maybe"];

/** Requests with one violation: in the body, in the query, or a forbidden combination. Undefined if none is possible. */
export function invalidRequests(route: Route, known: KnownValues): fc.Arbitrary<GeneratedRequest> | undefined {
  const body = bodySchema(route);
  const shaped = shapedRequests(route, known);
  const kinds: fc.Arbitrary<GeneratedRequest>[] = [];
  if (body) {
    const broken = ({ query, body: fitting }: GeneratedRequest): GeneratedRequest[] =>
      faultsOf(body, fitting)
        .map(({ at, value }) => ({ query, body: value, fault: `body ${at}` }))
        .filter((request) => !isValid(route, request));
    kinds.push(shaped.chain((request) => fc.constantFrom(...broken(request))));
  }
  const texts = Object.keys(parameters(route)).flatMap((name) =>
    oddTexts
      .filter((text) => !isValid(route, { query: { [name]: text }, body: undefined }))
      .map((text) => ({ name, text })),
  );
  if (texts.length > 0) {
    const wrong = ({ query, body: fitting }: GeneratedRequest): GeneratedRequest[] =>
      texts.map(({ name, text }) => ({ query: { ...query, [name]: text }, body: fitting, fault: `query ${name}` }));
    kinds.push(shaped.chain((request) => fc.constantFrom(...wrong(request))));
  }
  if (route.rules.length > 0) kinds.push(shaped.map((request) => ({ ...request, fault: "a forbidden combination" })));
  return kinds.length === 0 ? undefined : fc.oneof(...kinds);
}
