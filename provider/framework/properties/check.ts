import type { Dialect } from "serverless-compute-api";
import { expectation, optionsOf, showValue } from "serverless-compute-api/shapes";
import { suggest } from "serverless-compute-api/spelling";
import { z } from "zod";
import { signatureKey } from "../../engine/engine-properties";
import { isProperties, type Path, type Properties, pathText, Unknown, type Value, valueAt } from "../../engine/values";
import type { Failure, Naming } from "../contract";
import { resolveName } from "../names";
import { programInputs, recordedDefaults } from "./defaults";
import { diffProperties } from "./diff";
import { childOf, propertyOf, valueIfPresent } from "./schema";
import { isSecretAt } from "./secret-paths";

interface CheckResult {
  /** The inputs with their name, defaults and the list of omitted properties; unknown values are left as they are. */
  inputs: Properties;
  failures: Failure[];
}

/**
 * Checks inputs by their shape, fills in the name and defaults, and records them. Values that are unknown before deployment are
 * skipped at any depth, and so is a rule over several properties that reads an unknown one. No message contains values of secret
 * properties, values at the paths that the program made secret, or values of free maps (`env`, a job's `input`).
 */
export function checkInputs(
  shape: z.ZodObject,
  olds: Properties,
  news: Properties,
  naming: Naming | undefined,
  secrets: readonly Path[] = [],
): CheckResult {
  const program = programInputs(olds, news);
  const programName = program["name"] ?? undefined;
  const isUnnamed = "name" in shape.shape && programName === undefined;
  const name = programName ?? (isUnnamed ? (olds["name"] ?? naming?.defaultName?.name) : undefined);
  const inputs = withDefaults(shape, name === undefined ? program : { ...program, name });
  const ignored = ignoredWriteOnlyKeys(shape, olds, inputs);
  const issues = (shape.safeParse(inputs).error?.issues ?? []).filter(
    (issue) => !ignored.includes(String(issue.path[0])) && !isUnsafeInteger(issue),
  );
  // A misspelled property is reported before the missing one.
  const ordered = [...issues.filter(isTypo), ...issues.filter((issue) => !isTypo(issue))];
  const failures = [
    ...ordered.flatMap((issue) => failuresOf(issue, shape, inputs, secrets, isUnnamed)),
    ...reservedNames(shape, inputs).map((path) => ({
      path: pathText(path),
      reason: "is a reserved name; use another one",
    })),
  ];
  for (const failure of nonJsonValues(inputs))
    if (!failures.some(({ path }) => failure.path === path)) failures.push(failure);
  if (isUnnamed && name === undefined) failures.push({ path: "name", reason: "is required" });
  failures.push(...shrinkFailures(shape, olds, inputs, secrets));
  const appendsSuffix = Object.entries(shape.shape).some(
    ([key, schema]) => optionsOf(schema).suffixesName && inputs[key] === true,
  );
  const resolved = resolveName(name, programName, olds, naming, appendsSuffix);
  const named = resolved.name === undefined ? inputs : { ...inputs, name: resolved.name };
  return { inputs: { ...named, ...recordedDefaults(shape, program, resolved.source) }, failures };
}

/** Given properties with their defaults. zod would fill these in only if no value is invalid or unknown. */
export function withDefaults(shape: z.ZodObject, input: Properties): Properties {
  const result = { ...input };
  for (const [key, schema] of Object.entries(shape.shape)) {
    const { inner, defaultValue } = propertyOf(schema);
    const present = valueIfPresent(inner, input[key]);
    const value = present === undefined ? defaultIn(schema, defaultValue, input) : present;
    if (value === undefined) delete result[key];
    else result[key] = inner instanceof z.ZodObject && isProperties(value) ? withDefaults(inner, value) : value;
  }
  return result;
}

/** The default of a property, which may depend on another one; unknown if that one is unknown. */
function defaultIn(schema: z.core.$ZodType, defaultValue: Value | undefined, input: Properties): Value | undefined {
  const { defaultBy } = optionsOf(schema);
  const other = defaultBy && input[defaultBy.property];
  if (other instanceof Unknown) return Unknown.value;
  return (typeof other === "string" ? defaultBy?.defaults[other] : undefined) ?? defaultValue;
}

/**
 * The write-only properties of an imported object whose program ignores their changes: with `ignoreChanges`, the engine removes
 * values that the state lacks. Empty if the state or the inputs have one of them, or if the object is replaced.
 */
function ignoredWriteOnlyKeys(shape: z.ZodObject, olds: Properties, inputs: Properties): string[] {
  const keys = Object.entries(shape.shape).flatMap(([key, schema]) => (optionsOf(schema).writeOnly ? [key] : []));
  const isImported = Object.keys(olds).length > 0 && keys.every((key) => olds[key] === undefined);
  if (!isImported || keys.some((key) => inputs[key] !== undefined)) return [];
  return diffProperties(shape, olds, inputs).some((change) => change.replace) ? [] : keys;
}

/** Paths of names in maps that zod drops. */
function reservedNames(schema: z.core.$ZodType, value: Value | undefined, path: Path = []): Path[] {
  if (!isProperties(value)) return [];
  const { inner } = propertyOf(schema);
  if (inner instanceof z.ZodRecord) return Object.hasOwn(value, "__proto__") ? [[...path, "__proto__"]] : [];
  if (!(inner instanceof z.ZodObject)) return [];
  return Object.entries(inner.shape).flatMap(([key, child]) => reservedNames(child, value[key], [...path, key]));
}

/** Values that JSON does not have, such as NaN, and Pulumi's assets. */
function nonJsonValues(value: Value, path: (string | number)[] = []): Failure[] {
  const failure = (reason: string): Failure[] => [{ path: pathText(path), reason }];
  if (typeof value === "number") return Number.isFinite(value) ? [] : failure("must be a finite number");
  if (Array.isArray(value)) return value.flatMap((item, index) => nonJsonValues(item, [...path, index]));
  if (!isProperties(value)) return [];
  if (signatureKey in value) return failure("is an asset or an archive; pass its content as a JSON value");
  return Object.entries(value).flatMap(([key, item]) => nonJsonValues(item, [...path, key]));
}

/** Issue of an integer beyond the safe range, which also exceeds a bound of its property. */
const isUnsafeInteger = (issue: z.core.$ZodIssue): boolean =>
  (issue.code === "too_big" || issue.code === "too_small") && issue.origin === "int";

const isTypo = ({ code }: z.core.$ZodIssue): boolean => code === "unrecognized_keys";

/** Failures of an issue; none if it concerns an unknown value. `isUnnamed`: the name is the default one. */
function failuresOf(
  issue: z.core.$ZodIssue,
  shape: z.ZodObject,
  inputs: Properties,
  secrets: readonly Path[],
  isUnnamed: boolean,
): Failure[] {
  const steps = issue.path.map(String);
  const keys = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
  const path = pathText(keys);
  const value = valueAt(inputs, steps);
  if (value instanceof Unknown) return [];
  const shapes = shapesTo(shape, steps);
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      path: pathText([...keys, key]),
      reason: unknownPropertyReason(key, shapes.at(-1)),
    }));
  if (value === undefined && issue.code !== "custom") return [{ path, reason: "is required" }];
  const isHidden =
    value === undefined || typeof value === "object" || isSecretAt(steps, secrets) || shapes.some(isConfidential);
  const isUnquoted = ["number", "boolean"].includes(typeof value) && "expected" in issue && issue.expected === "string";
  const [source, remedy] =
    isUnnamed && path === "name" ? [" by default", "; set a name"] : ["", isUnquoted ? "; put it in quotes" : ""];
  const shown = isHidden ? "" : `is ${showValue(value)}${source}; `;
  return [{ path, reason: `${shown}${expectation(issue, shape)}${remedy}` }];
}

/** Shapes along a path, that of its end last. */
function shapesTo(shape: z.core.$ZodType, [key, ...rest]: Path): z.core.$ZodType[] {
  const child = key === undefined ? undefined : childOf(propertyOf(shape).inner, key);
  return [shape, ...(child ? shapesTo(child, rest) : [])];
}

/** Returns true if no message shows a value of this shape, because it is secret, or in a free map. */
const isConfidential = (shape: z.core.$ZodType): boolean =>
  optionsOf(shape).secret === true || propertyOf(shape).inner instanceof z.ZodRecord;

function unknownPropertyReason(key: string, shape: z.core.$ZodType | undefined): string {
  const inner = shape && propertyOf(shape).inner;
  const keys = inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
  const suggestion = suggest(key, keys);
  return `unknown property; ${suggestion ? `did you mean "${suggestion}"?` : `expected one of ${keys.join(", ")}`}`;
}

/** Failures of properties that can only grow but shrink, unless the object is replaced anyway. */
function shrinkFailures(shape: z.ZodObject, olds: Properties, news: Properties, secrets: readonly Path[]): Failure[] {
  const failures = Object.entries(shape.shape).flatMap(([key, schema]) => {
    const oldSize = olds[key];
    const newSize = news[key];
    const { growsOnly: remedy } = optionsOf(schema);
    if (remedy === undefined || typeof oldSize !== "number" || typeof newSize !== "number" || newSize >= oldSize)
      return [];
    const reason = isSecretAt([key], secrets)
      ? `cannot shrink; ${remedy}`
      : `cannot shrink from ${oldSize} to ${newSize}; set ${oldSize} or more, or ${remedy}`;
    return [{ path: key, reason }];
  });
  if (failures.length === 0) return [];
  return diffProperties(shape, olds, news).some((change) => change.replace) ? [] : failures;
}

/** Failures of inputs that the dialect does not support. Inputs at their defaults and unknown values are ignored. */
export function unsupportedInputs(shape: z.ZodObject, inputs: Properties, dialect: Dialect): Failure[] {
  return Object.entries(shape.shape).flatMap(([key, schema]) => {
    const { dialect: requiredDialect } = optionsOf(schema);
    const value = inputs[key];
    if (requiredDialect === undefined || requiredDialect === dialect) return [];
    if (value === undefined || value instanceof Unknown || value === propertyOf(schema).defaultValue) return [];
    const remedy = `remove it, also from ignoreChanges, or set the provider's dialect to ${requiredDialect}`;
    return [{ path: key, reason: `is supported only by REST ${requiredDialect}; ${remedy}` }];
  });
}
