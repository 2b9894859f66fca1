import { type DocumentNode, Kind, type SelectionSetNode } from "graphql";
import { ServiceError } from "../errors";

/**
 * Bounds of a request, far above the requests of real clients. Validation compares fields in pairs and blocks the event loop: 33 KB of
 * aliases took 11 s.
 */
export const graphqlBounds = {
  /** Tokens of a document, with and without a key. */
  tokens: 10_000,
  tokensWithoutKey: 1000,
  /** Number of operations and fragments. */
  definitions: 50,
  /** Number of fields, counting each fragment wherever it is spread. */
  fields: 500,
  aliases: 50,
  /** Nesting depth of fields. */
  depth: 20,
  /** Number of objects read. */
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

/** Throws a ServiceError `invalid` for a document beyond the bounds, in linear time. */
export function checkDocument({ definitions }: DocumentNode): void {
  check("operations and fragments", definitions.length, graphqlBounds.definitions);
  const fragments = new Map<string, SelectionSetNode>();
  for (const definition of definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition.selectionSet);
  const measured = new Map<string, Size>();

  function fragmentSize(name: string): Size {
    const known = measured.get(name);
    if (known) return known;
    // Validation reports a recursive fragment.
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
