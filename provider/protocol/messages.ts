import { bytes, count, double, flag, map, message, nested, repeated, text } from "./protobuf";
import { properties } from "./structs";

/** Types of a call's request and response. */
export type Request<Of extends { decode(bytes: Buffer): unknown }> = ReturnType<Of["decode"]>;
export type Response<Of extends { encode(value: never): unknown }> = Parameters<Of["encode"]>[0];

// The messages of Pulumi's ResourceProvider service (proto/pulumi/provider.proto), with the fields that the plugin uses.

const checkFailure = message({ property: text(1), reason: text(2) });
const autonaming = message({ proposedName: text(1), mode: count(2) });
/** Modes of autonaming: a name is proposed, or the resource must be given one by the user. */
export const autonamingDisabled = 2;

export const checkRequest = message({
  urn: text(1),
  olds: properties(2),
  news: properties(3),
  randomSeed: bytes(5),
  autonaming: nested(8, autonaming),
});
export const checkResponse = message({ inputs: properties(1), failures: repeated(nested(2, checkFailure)) });

export const diffRequest = message({ id: text(1), urn: text(2), olds: properties(3), news: properties(4) });
/** Values of `changes` in a response to Diff. */
export const diffChanges = { none: 1, some: 2 } as const;
/** Kinds of property differences: in place, and with a replacement. */
export const diffKinds = { add: [0, 1], delete: [2, 3], update: [4, 5] } as const;
export const diffResponse = message({
  replaces: repeated(text(1)),
  stables: repeated(text(2)),
  deleteBeforeReplace: flag(3),
  changes: count(4),
  diffs: repeated(text(5)),
  detailedDiff: map(6, message({ kind: count(1) })),
  hasDetailedDiff: flag(7),
});

export const configureRequest = message({ args: properties(2) });
export const configureResponse = message({
  acceptSecrets: flag(1),
  supportsPreview: flag(2),
  supportsAutonaming: flag(5),
});

export const createRequest = message({ urn: text(1), properties: properties(2), timeout: double(3), preview: flag(4) });
export const createResponse = message({ id: text(1), properties: properties(2) });

export const readRequest = message({
  id: text(1),
  urn: text(2),
  properties: properties(3),
  inputs: properties(4),
  timeout: double(10),
});
export const readResponse = message({ id: text(1), properties: properties(2), inputs: properties(3) });

export const updateRequest = message({
  id: text(1),
  urn: text(2),
  olds: properties(3),
  news: properties(4),
  timeout: double(5),
  preview: flag(7),
});
export const updateResponse = message({ properties: properties(1) });

export const deleteRequest = message({ id: text(1), urn: text(2), properties: properties(3), timeout: double(4) });

export const invokeRequest = message({ token: text(1), args: properties(2) });
export const invokeResponse = message({ return: properties(1) });

export const empty = message({});

/** Details of the status of an unfinished create or update (ErrorResourceInitFailed). */
export const initFailed = message({
  id: text(1),
  properties: properties(2),
  reasons: repeated(text(3)),
  inputs: properties(4),
});
export const rpcStatus = message({
  code: count(1),
  message: text(2),
  details: repeated(nested(3, message({ typeUrl: text(1), value: bytes(2) }))),
});
