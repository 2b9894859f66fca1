import type { Properties } from "../../engine/values";
import { selectedService } from "../../settings/settings";
import { openAccount } from "../account";
import { requireEmpty } from "../project/folder";
import { readObjects } from "../project/objects";
import { type ProjectFlags, writeProject } from "../project/output";
import type { Report, Skipped } from "../project/report";
import type { Terminal } from "../terminal";
import { lostAttributes } from "./lost-attributes";
import { type RecordedResource, readRecorded, type sources } from "./sources";

/** Options of `move --from`. */
export interface MoveFlags extends ProjectFlags {
  from: keyof typeof sources;
}

/**
 * Writes a project with the objects of a recorded state, and the file for `pulumi import`. The state contributes the ids and
 * the names of resources, the account all values. Changes neither. Returns the exit code.
 */
export async function moveRecorded(
  flags: MoveFlags,
  text: string,
  io: Terminal,
  environment?: NodeJS.ProcessEnv,
): Promise<number> {
  await requireEmpty(flags.out);
  const { resources: recorded, ignoredTypes } = readRecorded(flags.from, text);
  if (ignoredTypes.length > 0)
    io.err(`Ignored data sources and resources of other providers: ${countByType(ignoredTypes)}.`);
  const keyOf = (kind: string | undefined, id: string | undefined): string => `${kind} ${id}`;
  const recordedByKey = new Map(recorded.map((resource) => [keyOf(resource.kind, resource.id), resource]));
  const account = openAccount(undefined, io.err, environment);
  const { objects, skipped } = await readObjects(
    account,
    ({ kind, id }) => recordedByKey.has(keyOf(kind, id)),
    io.err,
  ).finally(() => account.close());
  const listedKeys = new Set([...objects, ...skipped].map(({ kind, id }) => keyOf(kind, id)));
  const missingObjects = recorded.flatMap(({ kind, id, name }): Skipped[] => {
    if (kind === undefined || listedKeys.has(keyOf(kind, id))) return [];
    const reason = id === undefined ? "the state does not contain its id" : "the account has no object with this id";
    return [{ kind, id, name, reason }];
  });
  if (objects.length === 0)
    throw new Error(`${account.baseUrl}: the account has none of the objects in the state; nothing was written`);
  const namedObjects = objects.map((object) => {
    const resource = recordedByKey.get(keyOf(object.kind, object.id))?.name;
    return resource === undefined ? object : { ...object, resource };
  });
  const inputsOf = new Map(objects.map(({ kind, id, inputs }) => [keyOf(kind, id), inputs]));
  const noCounterpart = recorded.flatMap((resource) =>
    lossesOf(resource, inputsOf.get(keyOf(resource.kind, resource.id))),
  );
  const omissions = { settings: selectedService(environment), skipped: [...skipped, ...missingObjects], noCounterpart };
  return writeProject(namedObjects, omissions, flags, io);
}

/** A list such as `1 data.runpod_gpu_types, 2 null_resource`. */
const countByType = (types: readonly string[]): string =>
  [...new Set(types)]
    .sort()
    .map((type) => `${types.filter((other) => other === type).length} ${type}`)
    .join(", ");

/** Reasons of the report for a resource or properties that the program lacks. */
function lossesOf(
  { address, kind, type, attributes }: RecordedResource,
  inputs: Properties | undefined,
): Report["noCounterpart"] {
  if (kind === undefined) return [{ address, reason: `${type}: this package has no such resource` }];
  const { unsupported, unreturned } = lostAttributes(kind, attributes, inputs);
  return [
    { names: unsupported, reason: "this package has no such property" },
    { names: unreturned, reason: "the service returned no value" },
  ].flatMap(({ names, reason }) => (names.length === 0 ? [] : [{ address, reason: `${names.join(", ")}: ${reason}` }]));
}
