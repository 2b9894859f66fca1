import { expectation, showValue } from "serverless-compute-api/shapes";
import { z } from "zod";
import { type Failure, type Path, type Properties, Unknown, type Value } from "../contract";
import { diffProperties } from "./diff";
import { childOf, propertyOf } from "./schema";
import { isSecretAt } from "./secret-paths";
import { closest } from "./spelling";
import { traitsOf } from "./traits";
import { hasUnknown, isProperties, toValue } from "./values";

/** Where a value stands, and whether messages may show it. */
interface Place {
  path: string[];
  hidden: boolean;
  /** Paths from the root that the program made secret. */
  secrets: readonly Path[];
}

export interface Checked {
  /** The inputs with defaults filled in; unknown values are left as they are. */
  inputs: Properties;
  failures: Failure[];
}

/**
 * Checks inputs by their shape and fills in what is absent. What is unknown before deployment is skipped at any depth,
 * and so is a rule over several properties that reads an unknown one. Values of secret properties, at the paths that the
 * program made secret, and of free maps (`env`, a job's `input`) are in no message.
 */
export function checkInputs(
  shape: z.ZodObject,
  olds: Properties,
  news: Properties,
  defaultName: string | undefined,
  secrets: readonly Path[] = [],
): Checked {
  const unnamed = "name" in shape.shape && (news["name"] ?? null) === null;
  // A name in state stays, whichever version of this package or which URN made it: nothing is renamed by itself.
  const name = olds["name"] ?? defaultName;
  const given = unnamed && name !== undefined ? { ...news, name } : news;
  const failures: Failure[] = [];
  const inputs = checkObject(shape, given, { path: [], hidden: false, secrets }, failures);
  if (unnamed && name === undefined) failures.push({ path: "name", reason: "is required" });
  if (unnamed && name !== undefined) {
    for (const failure of failures.filter(({ path }) => path === "name"))
      failure.reason = `${failure.reason.replace("; ", " by default; ")}; set a name of your own`;
  }
  failures.push(...shrinking(shape, olds, inputs, secrets));
  return { inputs, failures };
}

function checkObject(shape: z.ZodObject, given: Properties, at: Place, failures: Failure[]): Properties {
  const before = failures.length;
  const keys = Object.keys(shape.shape);
  for (const key of Object.keys(given).filter((one) => !keys.includes(one))) {
    const meant = closest(key, keys);
    failures.push({
      path: [...at.path, key].join("."),
      reason: `unknown property; ${meant ? `did you mean "${meant}"?` : `expected one of ${keys.join(", ")}`}`,
    });
  }
  const checked: Properties = {};
  for (const [key, schema] of Object.entries(shape.shape)) {
    const place = { ...at, path: [...at.path, key], hidden: at.hidden || traitsOf(schema).secret === true };
    const value = checkValue(schema, given[key], place, failures);
    if (value !== undefined) checked[key] = value;
  }
  const unreadable = new Set(failures.slice(before).map(({ path }) => path.split(".")[at.path.length] ?? ""));
  for (const key of keys) if (hasUnknown(checked[key])) unreadable.add(key);
  for (const issue of brokenRules(shape, checked, unreadable)) failures.push(failureOf(issue, checked, at));
  return checked;
}

function checkValue(
  schema: z.core.$ZodType,
  value: Value | undefined,
  at: Place,
  failures: Failure[],
): Value | undefined {
  if (value instanceof Unknown) return value;
  const { inner, optional, fallback, takesNull } = propertyOf(schema);
  if (value === undefined || (value === null && !takesNull)) {
    if (!optional) failures.push({ path: at.path.join("."), reason: "is required" });
    return fallback;
  }
  if (inner instanceof z.ZodObject && isProperties(value)) return checkObject(inner, value, at, failures);
  const place = { ...at, hidden: at.hidden || inner instanceof z.ZodRecord };
  if (hasUnknown(value)) return checkPartly(inner, value, place, failures);
  const result = z.safeParse(inner, value);
  if (result.success) return toValue(result.data);
  failures.push(...result.error.issues.map((issue) => failureOf(issue, value, place, inner)));
  return value;
}

/** A map or a list with unknown parts: the rest is checked one by one. */
function checkPartly(schema: z.core.$ZodType, value: Value, at: Place, failures: Failure[]): Value {
  const part = (key: string, one: Value): Value => {
    const child = childOf(schema, key);
    return (child && checkValue(child, one, { ...at, path: [...at.path, key] }, failures)) ?? one;
  };
  if (Array.isArray(value)) return value.map((one, index) => part(String(index), one));
  if (!isProperties(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, part(key, one)]));
}

/** Rules over several properties (`refine`) that do not hold; one that reads an unreadable property says nothing. */
function brokenRules(shape: z.ZodObject, values: Properties, unreadable: Set<string>): z.core.$ZodIssue[] {
  const issues: z.core.$ZodIssue[] = [];
  for (const rule of rulesOf(shape)) {
    let blind = false;
    const watched = new Proxy(values, {
      get: (target, key) => {
        if (typeof key !== "string") return undefined;
        blind ||= unreadable.has(key);
        return target[key];
      },
    });
    const result = rule.safeParse(watched);
    if (!blind) issues.push(...(result.error?.issues ?? []));
  }
  return issues;
}

const rulesByShape = new WeakMap<z.ZodObject, z.ZodAny[]>();

/** The rules over several properties of a shape, each as a check of its own. */
function rulesOf(shape: z.ZodObject): z.ZodAny[] {
  const known = rulesByShape.get(shape);
  if (known) return known;
  const checks: unknown[] = shape.def.checks ?? [];
  const rules = checks.flatMap((rule) => (rule instanceof z.core.$ZodCheck ? [z.any().check(rule)] : []));
  rulesByShape.set(shape, rules);
  return rules;
}

function failureOf(issue: z.core.$ZodIssue, value: Value, at: Place, shape?: z.core.$ZodType): Failure {
  const inside = issue.path.map(String);
  let found: Value | undefined = value;
  for (const step of inside) {
    if (Array.isArray(found)) found = found[Number(step)];
    else found = isProperties(found) ? found[step] : undefined;
  }
  const path = [...at.path, ...inside];
  const hidden = at.hidden || isSecretAt(path, at.secrets) || found === undefined || typeof found === "object";
  const shown = hidden ? "" : `is ${showValue(found)}; `;
  return { path: path.join("."), reason: `${shown}${expectation(issue, shape)}` };
}

/** What can only grow must not shrink, unless the object is replaced anyway. */
function shrinking(shape: z.ZodObject, olds: Properties, news: Properties, secrets: readonly Path[]): Failure[] {
  const failures = Object.entries(shape.shape).flatMap(([key, schema]) => {
    const was = olds[key];
    const is = news[key];
    const { growsOnly: remedy } = traitsOf(schema);
    if (remedy === undefined || typeof was !== "number" || typeof is !== "number" || is >= was) return [];
    const sizes = isSecretAt([key], secrets) ? "" : ` from ${was} to ${is}`;
    return [{ path: key, reason: `cannot shrink${sizes}; ${remedy}` }];
  });
  if (failures.length === 0) return [];
  return diffProperties(shape, olds, news).some((change) => change.replace) ? [] : failures;
}
