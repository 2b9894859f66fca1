import { type DocumentNode, Kind, type SelectionSetNode } from "graphql";
import { ServiceError } from "../errors";

/**
 * Bounds of one request, far above what clients send. Validation compares fields in pairs, and nothing else of the service runs
 * meanwhile: 33 KB of aliases took 11 s.
 */
export const graphqlBounds = {
  /** Tokens of a document, and of one that is sent without a key. */
  tokens: 10_000,
  tokensWithoutKey: 1000,
  /** Operations and fragments. */
  definitions: 50,
  /** Fields, also with every fragment in the places where it is spread. */
  fields: 500,
  aliases: 50,
  /** Levels of fields. */
  depth: 20,
  /** Objects that are read. */
  objects: 10_000,
} as const;

interface Size {
  fields: number;
  aliases: number;
  depth: number;
}

const none: Size = { fields: 0, aliases: 0, depth: 0 };
const plus = (one: Size, other: Size): Size => ({
  fields: one.fields + other.fields,
  aliases: one.aliases + other.aliases,
  depth: Math.max(one.depth, other.depth),
});

/** Throws a ServiceError `invalid` for a document beyond the bounds; costs no more than a walk through it. */
export function checkDocument({ definitions }: DocumentNode): void {
  check("operations and fragments", definitions.length, graphqlBounds.definitions);
  const fragments = new Map<string, SelectionSetNode>();
  for (const definition of definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition.selectionSet);
  const measured = new Map<string, Size>();

  function fragmentSize(name: string): Size {
    const known = measured.get(name);
    if (known) return known;
    // A fragment within itself is a fault that validation reports.
    measured.set(name, none);
    const size = sizeOf(fragments.get(name));
    measured.set(name, size);
    return size;
  }
  function sizeOf(set: SelectionSetNode | undefined): Size {
    let size = none;
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) size = plus(size, fragmentSize(selection.name.value));
      else if (selection.kind === Kind.INLINE_FRAGMENT) size = plus(size, sizeOf(selection.selectionSet));
      else {
        const { fields, aliases, depth } = sizeOf(selection.selectionSet);
        const own = { fields: fields + 1, aliases: aliases + (selection.alias ? 1 : 0), depth: depth + 1 };
        size = plus(size, own);
      }
    }
    return size;
  }

  let whole = none;
  for (const definition of definitions)
    if ("selectionSet" in definition) whole = plus(whole, sizeOf(definition.selectionSet));
  check("fields", whole.fields, graphqlBounds.fields);
  check("aliases", whole.aliases, graphqlBounds.aliases);
  check("levels", whole.depth, graphqlBounds.depth);
}

function check(what: string, count: number, most: number): void {
  if (count > most) throw new ServiceError("invalid", `query: has more than ${most} ${what}; send several requests`);
}
