import type { Fields } from "../local-service";

/** The management APIs. */
export const apis = ["v1", "v2", "graphql"] as const;
export type Api = (typeof apis)[number];
export const kinds = ["template", "endpoint"] as const;
export type Kind = (typeof kinds)[number];

/** Fields of a body or of a record with a value; undefined if the API does not have the property there. */
export type Form = ((value: unknown) => Fields) | undefined;

/** A property of a kind, in each API. */
export interface Property {
  name: string;
  /** Two values: of a new object, and after a change. */
  values: [unknown, unknown];
  /** Fields of a request. */
  write: Record<Api, Form>;
  /** Fields of a response. */
  read: Record<Api, Form>;
  /** True if a change makes workers outdated. */
  restarts: boolean;
  /** True if a deployment with the provider reports a change outside it. */
  drift: boolean;
  /** Values that every API with the property rejects, naming it. */
  wrong: unknown[];
  /** Fields that an object with the property requires. */
  base: Partial<Record<Api, Fields>>;
}

/** Ids of objects to which properties refer, at least two of each kind. */
export interface References {
  templates: string[];
  volumes: string[];
  registries: string[];
}

/** One form for bodies and records, or two; null if the API does not have the property. */
type Forms = NonNullable<Form> | null | { write?: NonNullable<Form>; read?: NonNullable<Form> };
/** A property as the tables of the kinds state it. */
export interface Row extends Partial<Record<Api, Forms>> {
  values: [unknown, unknown];
  restarts?: true;
  drift?: false;
  wrong?: unknown[];
  base?: Property["base"];
}

/** In each API, a property has its own name and form by default. */
function property(name: string, { values, restarts, drift, wrong, base, ...forms }: Row): Property {
  const formOf = (api: Api, part: "write" | "read"): Form => {
    const form = forms[api] === undefined ? (value: unknown) => ({ [name]: value }) : forms[api];
    if (form === null) return undefined;
    return typeof form === "function" ? form : form[part];
  };
  const each = (part: "write" | "read") => ({
    v1: formOf("v1", part),
    v2: formOf("v2", part),
    graphql: formOf("graphql", part),
  });
  return {
    name,
    values,
    write: each("write"),
    read: each("read"),
    restarts: restarts ?? false,
    drift: drift ?? true,
    wrong: wrong ?? [],
    base: base ?? {},
  };
}

/** Properties from their rows. */
export const propertiesOf = (rows: Record<string, Row>): Property[] =>
  Object.entries(rows).map(([name, row]) => property(name, row));

/** A value as a list; without items if it is none. */
export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
/** A list as GraphQL writes it. */
export const joined = (value: unknown): string => list(value).join(",");
/** A map of variables as GraphQL writes it. */
export const variables = (env: unknown): Fields => ({
  env: Object.entries(Object(env)).map(([key, value]) => ({ key, value })),
});
