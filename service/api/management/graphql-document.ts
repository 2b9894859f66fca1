/**
 * Bounds are checked before graphql-js validates a document. Its validation compares fields in pairs and blocks the event loop: 33 KB of
 * aliases took 11 s.
 */

import {
  type ArgumentNode,
  type DocumentNode,
  Kind,
  type ObjectFieldNode,
  parse,
  type SelectionSetNode,
  type VariableNode,
  visit,
} from "graphql";
import { ServiceError } from "../../errors";
import { unstorablePart } from "../../validation";

/** Bounds of a request, far above the requests of real clients. */
export const graphqlBounds = {
  /** Tokens of a document, with and without a key. */
  tokens: 10_000,
  tokensWithoutKey: 1000,
  /** Number of operations and fragments. */
  definitions: 50,
  /** Number of fields, counting each fragment wherever it is spread. */
  fields: 500,
  aliases: 50,
  depth: 20,
  /** Number of objects read. */
  objects: 10_000,
} as const;

interface Size {
  fields: number;
  aliases: number;
  depth: number;
}

const emptySize: Size = { fields: 0, aliases: 0, depth: 0 };
const addSizes = (left: Size, right: Size): Size => ({
  fields: left.fields + right.fields,
  aliases: left.aliases + right.aliases,
  depth: Math.max(left.depth, right.depth),
});

/** Parses a document. Throws a ServiceError `invalid` if it is beyond the bounds or contains strings that the store would change. */
export function readDocument(query: string, maxTokens: number): DocumentNode {
  const document = parse(query, { maxTokens });
  checkSize(document);
  checkLiterals(document);
  return document;
}

/** Checks a document's bounds in linear time. */
function checkSize({ definitions }: DocumentNode): void {
  check("operations and fragments", definitions.length, graphqlBounds.definitions);
  const fragments = new Map<string, SelectionSetNode>();
  for (const definition of definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition.selectionSet);
  const sizes = new Map<string, Size>();

  function fragmentSize(name: string): Size {
    const cached = sizes.get(name);
    if (cached) return cached;
    // Validation reports a recursive fragment.
    sizes.set(name, emptySize);
    const size = sizeOf(fragments.get(name));
    sizes.set(name, size);
    return size;
  }
  function sizeOf(selectionSet: SelectionSetNode | undefined): Size {
    let size = emptySize;
    for (const selection of selectionSet?.selections ?? []) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) size = addSizes(size, fragmentSize(selection.name.value));
      else if (selection.kind === Kind.INLINE_FRAGMENT) size = addSizes(size, sizeOf(selection.selectionSet));
      else {
        const { fields, aliases, depth } = sizeOf(selection.selectionSet);
        const fieldSize = { fields: fields + 1, aliases: aliases + (selection.alias ? 1 : 0), depth: depth + 1 };
        size = addSizes(size, fieldSize);
      }
    }
    return size;
  }

  let total = emptySize;
  for (const definition of definitions)
    if ("selectionSet" in definition) total = addSizes(total, sizeOf(definition.selectionSet));
  check("fields", total.fields, graphqlBounds.fields);
  check("aliases", total.aliases, graphqlBounds.aliases);
  check("levels", total.depth, graphqlBounds.depth);
}

function check(noun: string, count: number, max: number): void {
  if (count > max) throw new ServiceError("invalid", `query: has more than ${max} ${noun}; send several requests`);
}

/** Rejects strings of a document that the store would change; the strings of variables are members of the body. */
function checkLiterals(document: DocumentNode): void {
  let property = "query";
  const enterNamed = (node: ArgumentNode | ObjectFieldNode | VariableNode): void => {
    property = node.name.value;
  };
  visit(document, {
    Argument: enterNamed,
    ObjectField: enterNamed,
    Variable: enterNamed,
    StringValue({ value }) {
      const part = unstorablePart(value);
      if (part !== undefined) throw new ServiceError("invalid", `${property}: must not contain ${part}`);
    },
  });
}
