import { z } from "zod";
import { type EngineProperties, propertiesFromEngine } from "../engine/engine-properties";
import type { Path, Properties } from "../engine/values";
import { defaultsKey } from "../framework/properties/defaults";
import { parseUrn } from "../framework/urn";

/** Internal inputs from a resource class to the provider process, for values that the engine does not forward. */
const internalShape = z.looseObject({
  /** URN of the resource, for its generated name and its messages. */
  __urn: z.string().optional().catch(undefined),
  /** The resource option customTimeouts, such as `{ delete: "5m" }`. */
  __timeouts: z.record(z.string(), z.unknown()).catch({}).default({}),
  /** True if the program looks up an existing object (the resource option id). */
  __existing: z.boolean().catch(false).default(false),
  /** Paths of the inputs that the program marked secret; the values arrive as plain text. */
  __secrets: z.array(z.array(z.string())).catch([]).default([]),
  /** The resource option replaceOnChanges. The engine cannot apply it, because the SDK passes no changed properties. */
  __replaceOnChanges: z.array(z.string()).catch([]).default([]),
});

/** Operations with a custom timeout. */
export const timedOperations = ["create", "read", "update", "delete"] as const;
export type TimedOperation = (typeof timedOperations)[number];

/** Parsed internal inputs of a resource. State of an earlier version may lack some. */
export interface InternalInputs {
  /** Unparsed inputs. Every response returns them, because refresh and delete receive outputs only. */
  readonly wire: EngineProperties;
  /** Empty if the state lacks it. */
  readonly urn: string;
  /** Name of the resource in messages. */
  readonly resourceName: string;
  /** True for an object that the program looks up, and for a refresh of it. */
  readonly isLookedUp: boolean;
  /** Returns true if the resource option replaceOnChanges requires a replacement when this property changes. */
  requiresReplacement(path: Path): boolean;
  /** Timeout of an operation set by the user, ms; undefined for none, also if the user sets it to zero, as in the plugin. */
  timeout(operation: TimedOperation): number | undefined;
}

/**
 * Splits properties into those of the resource, including its list of omitted properties, and internal inputs, whose names start with
 * two underscores.
 */
export function splitProperties(all: Record<string, unknown>): {
  internal: InternalInputs;
  properties: Properties;
  secretPaths: readonly Path[];
} {
  const entries = Object.entries(all);
  const isInternal = ([key]: [string, unknown]): boolean => key.startsWith("__") && key !== defaultsKey;
  const wire = Object.fromEntries(entries.filter(isInternal));
  const properties = propertiesFromEngine(Object.fromEntries(entries.filter((entry) => !isInternal(entry))));
  return { ...parseInternal(wire), properties };
}

/** Parts of a path as the engine writes it, such as `env.MODEL` and `env["a.b"]`. */
const parsePath = (path: string): string[] =>
  [...path.matchAll(/\["((?:\\.|[^"\\])*)"\]|\[([^\]]*)\]|([^.[\]]+)/g)].map(
    ([, quoted, index, key]) => quoted?.replace(/\\(.)/g, "$1") ?? index ?? key ?? "",
  );

/** Returns true if `path` is at or below a path with wildcards, by the engine's rules. */
const matchesPattern = (pattern: string, path: readonly string[]): boolean =>
  parsePath(pattern).every((part, index) => (part === "*" ? index < path.length : part === path[index]));

function parseInternal(all: EngineProperties): { internal: InternalInputs; secretPaths: readonly Path[] } {
  const parsed = internalShape.parse(all);
  const { __urn: urn = "", __timeouts: timeouts, __secrets: secretPaths, __existing: isLookedUp } = parsed;
  const internal: InternalInputs = {
    wire: all,
    urn,
    isLookedUp,
    resourceName: parseUrn(urn).name,
    requiresReplacement: (path) => parsed.__replaceOnChanges.some((pattern) => matchesPattern(pattern, path)),
    timeout: (operation) => {
      const text = timeouts[operation];
      return text === undefined || text === null ? undefined : parseDuration(String(text), operation) || undefined;
    },
  };
  return { internal, secretPaths };
}

const units: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  "\u00b5s": 1e-3,
  "\u03bcs": 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * Reads a duration in the form of the resource option, such as `90s` or `1h30m`, as the engine does for the plugin: with a sign, and
 * without a unit if it is zero. A negative duration is zero.
 */
function parseDuration(text: string, operation: TimedOperation): number {
  const [, sign, value = ""] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (value === "0") return 0;
  const parts = [...value.matchAll(/(\d+\.?\d*|\.\d+)([nu\u00b5\u03bcm]?s|[mh])/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== value) {
    throw new Error(
      `customTimeouts.${operation}: "${text}" is not a duration; use a value such as "90s", "5m" or "1h30m"`,
    );
  }
  const duration = parts.reduce((sum, [, count = "0", unit = ""]) => sum + Number(count) * (units[unit] ?? 0), 0);
  return sign === "-" ? 0 : duration;
}
