import { z } from "zod";
import type { Path, Properties } from "../lifecycle/contract";
import { defaultsKey } from "../lifecycle/properties/defaults";
import { propertiesFromWire, type Wire } from "../protocol/values";
import { readUrn } from "../verbs/urn";

/** What a class hands to the provider process beside the user's inputs, which the engine would not pass on. */
const internalShape = z.looseObject({
  /** The resource's own URN, for its generated name and for messages on its own line. */
  __urn: z.string().optional().catch(undefined),
  /** The resource option customTimeouts, such as `{ delete: "5m" }`. */
  __timeouts: z.record(z.string(), z.unknown()).catch({}).default({}),
  /** Whether the program asks for an object that has to exist (the resource option id). */
  __existing: z.boolean().catch(false).default(false),
  /** Paths of the inputs that the program made secret; values arrive here in plain. */
  __secrets: z.array(z.array(z.string())).catch([]).default([]),
  /** The resource option replaceOnChanges. The engine goes by changed properties, of which the SDK passes it none. */
  __replaceOnChanges: z.array(z.string()).catch([]).default([]),
});

/** The verbs whose time a user may set. */
export type TimedVerb = "create" | "update" | "delete";

/** The internal inputs of a resource, read. State of an earlier version simply has fewer. */
export interface InternalInputs {
  /** As they came: every response gives them back, since refresh and delete see outputs only. */
  readonly wire: Wire;
  /** Empty where the state does not hold it. */
  readonly urn: string;
  /** What to call the resource in a message. */
  readonly resourceName: string;
  /** Whether this is a program's look-up of an object, not a refresh of what was deployed. */
  readonly mustExist: boolean;
  /** Whether the resource option replaceOnChanges asks for a replacement when this property changes. */
  replacesOn(path: Path): boolean;
  /** Milliseconds that the user allows a verb. */
  timeout(verb: TimedVerb): number | undefined;
}

/**
 * Divides properties into those of the lifecycle, its record of defaults included, and those that the class added, whose names
 * start with two underscores.
 */
export function splitProperties(all: Record<string, unknown>): {
  internal: InternalInputs;
  properties: Properties;
  secretPaths: readonly Path[];
} {
  const entries = Object.entries(all);
  const isInternal = ([key]: [string, unknown]): boolean => key.startsWith("__") && key !== defaultsKey;
  const wire = Object.fromEntries(entries.filter(isInternal));
  const properties = propertiesFromWire(Object.fromEntries(entries.filter((entry) => !isInternal(entry))));
  return { ...readInternal(wire), properties };
}

/** Parts of a path as the engine writes it, such as `env.MODEL` and `env["a.b"]`. */
const partsOf = (path: string): string[] =>
  [...path.matchAll(/\["((?:\\.|[^"\\])*)"\]|\[([^\]]*)\]|([^.[\]]+)/g)].map(
    ([, quoted, index, key]) => quoted?.replace(/\\(.)/g, "$1") ?? index ?? key ?? "",
  );

/** Whether a path with wildcards has `path` at or below it, as the engine compares them. */
const covers = (pattern: string, path: readonly string[]): boolean =>
  partsOf(pattern).every((part, index) => (part === "*" ? index < path.length : part === path[index]));

function readInternal(all: Wire): { internal: InternalInputs; secretPaths: readonly Path[] } {
  const read = internalShape.parse(all);
  const { __urn: urn = "", __timeouts: timeouts, __secrets: secretPaths, __existing: mustExist } = read;
  // Not kept in state: what was looked up once is refreshed like anything else.
  const { __existing: _asked, ...wire } = all;
  const internal: InternalInputs = {
    ...{ wire, urn, mustExist },
    resourceName: readUrn(urn).name,
    replacesOn: (path) => read.__replaceOnChanges.some((pattern) => covers(pattern, path)),
    timeout: (verb) => {
      const text = timeouts[verb];
      return text === undefined || text === null ? undefined : milliseconds(String(text), verb);
    },
  };
  return { internal, secretPaths };
}

const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Reads a duration in the form of the resource option, such as `90s` or `1h30m`. */
function milliseconds(text: string, verb: TimedVerb): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text) {
    throw new Error(`customTimeouts.${verb}: "${text}" is not a duration; write it like "90s", "5m" or "1h30m"`);
  }
  return parts.reduce((sum, [, count = "0", unit = ""]) => sum + Number(count) * (units[unit] ?? 0), 0);
}
