import { z } from "zod";
import { defaultName, readUrn } from "../engine/urn";
import { propertiesFromWire, type Wire } from "../engine/values";
import type { Properties } from "../lifecycle/contract";

/** What a class tells the provider process beside the user's inputs, which the engine would not pass on. */
const hiddenShape = z.looseObject({
  /** The resource's own URN: for its default name and for messages on its own line. */
  __urn: z.string().optional().catch(undefined),
  /** The resource option customTimeouts, such as `{ delete: "5m" }`. */
  __timeouts: z.record(z.string(), z.unknown()).catch({}).default({}),
  /** Whether the program asks for an object that has to exist (the resource option id). */
  __existing: z.boolean().catch(false).default(false),
  /** Paths of the inputs that the program made secret; values arrive here in plain. */
  __secrets: z.array(z.array(z.string())).catch([]).default([]),
  /** The resource option replaceOnChanges. The engine goes by changed properties, of which the SDK tells it none. */
  __replaceOnChanges: z.array(z.string()).catch([]).default([]),
});

/** The verbs whose time a user may set. */
export type TimedVerb = "create" | "update" | "delete";

/** The hidden part of a resource's properties, read. State of a package that knew less simply says less. */
export interface Hidden {
  /** The hidden properties as they came: every answer gives them back, since refresh and delete see outputs only. */
  readonly wire: Wire;
  readonly urn: string | undefined;
  /** Name that a resource gets when the user gave none. */
  readonly defaultName: string | undefined;
  /** What to call the resource in a message. */
  readonly resourceName: string;
  readonly secrets: readonly (readonly string[])[];
  /** Whether this is a program's look-up of an object, not a refresh of what was deployed. */
  readonly mustExist: boolean;
  /** Whether the resource option replaceOnChanges asks for a replacement when this property changes. */
  replacesOn(path: readonly string[]): boolean;
  /** Milliseconds that the user allows a verb. */
  timeout(verb: TimedVerb): number | undefined;
}

/** Divides properties into what the user wrote and what the class added; hidden names start with two underscores. */
export function splitHidden(all: Record<string, unknown>): { hidden: Hidden; visible: Properties } {
  const entries = Object.entries(all);
  const isHidden = ([key]: [string, unknown]): boolean => key.startsWith("__");
  const wire = Object.fromEntries(entries.filter(isHidden));
  const visible = propertiesFromWire(Object.fromEntries(entries.filter((entry) => !isHidden(entry))));
  return { hidden: readHidden(wire), visible };
}

/** Parts of a path as the engine writes it, such as `env.MODEL` and `env["a.b"]`. */
const partsOf = (path: string): string[] =>
  [...path.matchAll(/\["((?:\\.|[^"\\])*)"\]|\[([^\]]*)\]|([^.[\]]+)/g)].map(
    ([, quoted, index, key]) => quoted?.replace(/\\(.)/g, "$1") ?? index ?? key ?? "",
  );

/** Whether a path with wildcards has `path` at or below it, as the engine compares them. */
const covers = (pattern: string, path: readonly string[]): boolean =>
  partsOf(pattern).every((part, index) => (part === "*" ? index < path.length : part === path[index]));

function readHidden(all: Wire): Hidden {
  const read = hiddenShape.parse(all);
  const { __urn: urn, __timeouts: timeouts, __secrets: secrets, __existing: mustExist } = read;
  // Not kept in state: what was looked up once is refreshed like anything else.
  const { __existing: _asked, ...wire } = all;
  const parts = readUrn(urn ?? "");
  return {
    wire,
    urn,
    defaultName: defaultName(urn ?? ""),
    resourceName: parts.name,
    secrets,
    mustExist,
    replacesOn: (path) => read.__replaceOnChanges.some((pattern) => covers(pattern, path)),
    timeout: (verb) => {
      const text = timeouts[verb];
      return text === undefined || text === null ? undefined : milliseconds(String(text), verb);
    },
  };
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
