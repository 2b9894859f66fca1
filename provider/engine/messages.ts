import { bytes, count, double, flag, map, message, nested, optionalFlag, repeated, text } from "./protobuf";
import { properties } from "./protobuf-struct";

/** Type of a call's request. */
export type Request<MessageType extends { decode(bytes: Buffer): unknown }> = ReturnType<MessageType["decode"]>;
/** Type of a call's response. */
export type Response<MessageType extends { encode(value: never): unknown }> = Parameters<MessageType["encode"]>[0];

// Messages of Pulumi's ResourceProvider service (proto/pulumi/provider.proto), limited to the fields that the plugin uses.

const checkFailure = message({ property: text(1), reason: text(2) });
const autonaming = message({ proposedName: text(1), mode: count(2) });
/** Mode of autonaming in which the user must set the name; in the other modes, the engine proposes one. */
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
/** Values of `changes` in the response to Diff. */
export const diffChanges = { none: 1, some: 2 } as const;
/** Codes of each kind of difference: in place, and with a replacement. */
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

/** `urn` is empty if the engine does not send it. */
export const configureRequest = message({ args: properties(2), urn: text(8) });
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

export const listRequest = message({
  token: text(1),
  query: properties(2),
  limit: count(3),
  pageSize: count(4),
  continuationToken: text(5),
});
/** Message of the response stream: an unknown list, an object, or the token of the next page. */
export const listResponse = message({
  computed: nested(1, message({})),
  result: nested(2, message({ id: text(1), name: text(2) })),
  continuation: nested(3, message({ continuationToken: text(1) })),
});

/** URNs of the resources that a property depends on. */
const dependencies = message({ urns: repeated(text(1)) });

/** Request of Construct. Options that the engine's monitor accepts in the same encoding remain bytes. */
export const constructRequest = message({
  dryRun: flag(4),
  monitorEndpoint: text(6),
  type: text(7),
  name: text(8),
  parent: text(9),
  inputs: properties(10),
  inputDependencies: map(11, dependencies),
  protect: optionalFlag(12),
  providers: repeated(bytes(13)),
  dependencies: repeated(text(15)),
  customTimeouts: bytes(19),
  deletedWith: text(20),
  ignoreChanges: repeated(text(22)),
  replaceOnChanges: repeated(text(23)),
  retainOnDelete: optionalFlag(24),
  hooks: bytes(26),
  stackTraceHandle: text(27),
  replaceWith: repeated(text(28)),
  aliases: repeated(bytes(29)),
});
export const constructResponse = message({
  urn: text(1),
  state: properties(2),
  stateDependencies: map(3, dependencies),
});

// Messages of Pulumi's ResourceMonitor service (proto/pulumi/resource.proto).

export const registerResourceRequest = message({
  type: text(1),
  name: text(2),
  parent: text(3),
  custom: flag(4),
  object: properties(5),
  protect: optionalFlag(6),
  dependencies: repeated(text(7)),
  propertyDependencies: map(9, dependencies),
  ignoreChanges: repeated(text(12)),
  acceptSecrets: flag(13),
  customTimeouts: bytes(17),
  supportsPartialValues: flag(19),
  providers: repeated(bytes(22)),
  replaceOnChanges: repeated(text(23)),
  retainOnDelete: optionalFlag(25),
  aliases: repeated(bytes(26)),
  deletedWith: text(27),
  aliasSpecs: flag(28),
  hooks: bytes(34),
  stackTraceHandle: text(36),
  replaceWith: repeated(text(38)),
});
export const registerResourceResponse = message({ urn: text(1), id: text(2), object: properties(3) });
export const registerOutputsRequest = message({ urn: text(1), outputs: properties(2) });

export const empty = message({});

/** Details of the status of an unfinished create or update (ErrorResourceInitFailed). */
export const initFailed = message({
  id: text(1),
  properties: properties(2),
  reasons: repeated(text(3)),
});
export const rpcStatus = message({
  code: count(1),
  message: text(2),
  details: repeated(nested(3, message({ typeUrl: text(1), value: bytes(2) }))),
});
