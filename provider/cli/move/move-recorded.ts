import { openAccount } from "../account";
import { requireEmpty } from "../import/folder";
import { readObjects } from "../import/objects";
import { type ProjectFlags, writeProject } from "../import/output";
import type { Skipped } from "../import/report";
import type { Terminal } from "../terminal";
import { type RecordedResource, readRecorded, type sources } from "./sources";

/** Options of `move --from`. */
export interface MoveFlags extends ProjectFlags {
  from: keyof typeof sources;
}

/** Attributes of other providers without a counterpart in this package, in camel case. */
const unsupported = [
  "gpuTypePriority",
  "cpuFlavorPriority",
  "cloudType",
  "bindEndpoint",
  "hubReleaseId",
  "flashEnvironmentId",
  "modelName",
  "modelReferences",
  "workersPFBTarget",
  "requestTTL",
  "minVram",
  "minRam",
  "startScript",
  "advancedStart",
  "portsConfig",
];

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
  const recorded = readRecorded(flags.from, text);
  const keyOf = (kind: string | undefined, id: string | undefined): string => `${kind} ${id}`;
  const wanted = new Map(recorded.map((one) => [keyOf(one.kind, one.id), one]));
  const account = openAccount(undefined, io.err, environment);
  const { objects, skipped } = await readObjects(
    account,
    ({ kind, id }) => wanted.has(keyOf(kind, id)),
    io.err,
  ).finally(() => account.close());
  const seen = new Set([...objects, ...skipped].map(({ kind, id }) => keyOf(kind, id)));
  const absent = recorded.flatMap(({ kind, id, name }): Skipped[] => {
    if (kind === undefined || seen.has(keyOf(kind, id))) return [];
    const reason = id === undefined ? "the state has no id of it" : "the account has no object with this id";
    return [{ kind, id, name, reason }];
  });
  if (objects.length === 0)
    throw new Error(`${account.baseUrl}: the account has none of the objects in the state; nothing was written`);
  const named = objects.map((object) => {
    const resource = wanted.get(keyOf(object.kind, object.id))?.name;
    return resource === undefined ? object : { ...object, resource };
  });
  const missing = { skipped: [...skipped, ...absent], noCounterpart: recorded.flatMap(lossOf) };
  return writeProject(named, missing, flags, io);
}

function lossOf({ address, kind, type, attributes }: RecordedResource): { address: string; reason: string }[] {
  if (kind === undefined) return [{ address, reason: `${type}: this package has no such resource` }];
  const lost = attributes.filter((name) => unsupported.includes(name));
  return lost.length === 0 ? [] : [{ address, reason: `${lost.join(", ")}: this package has no such property` }];
}
