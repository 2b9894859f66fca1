import { isDeepStrictEqual } from "node:util";
import { optionsOf } from "serverless-compute-api/shapes";
import { isSecret, unknownText } from "../../engine/engine-properties";
import { isRecord, type Properties, pathText, toProperties } from "../../engine/values";
import { isOmitted, isRecorded } from "../../framework/properties/defaults";
import { diffProperty } from "../../framework/properties/diff";
import { isPlainCredential } from "../../framework/properties/input-warnings";
import { propertyOf } from "../../framework/properties/schema";
import { isGeneratedName, parseUrn, shortType } from "../../framework/urn";
import { type Kind, kinds } from "../../resources";
import { kindOf } from "../state";
import type { Preview, Step } from "./preview";

/** A changed property; a side is undefined if the property is absent there. */
export interface PropertyChange {
  /** Path, such as `env.MODE`. */
  property: string;
  old: unknown;
  new: unknown;
  forcesReplacement: boolean;
  /** The release of an endpoint that made the change; in drift reports only, if the service shows it. */
  release?: ChangingRelease;
}

/** A release of an endpoint. */
interface ChangingRelease {
  /** Name of the endpoint in the program. */
  endpoint: string;
  id: string;
  version: number | undefined;
  createdAt: string;
}

/** A release in one line. */
export const releaseText = ({ endpoint, id, version, createdAt }: ChangingRelease): string =>
  `release ${version === undefined ? id : `${version} (${id})`} of ${endpoint}, ${createdAt}`;

/** A resource that a deployment changes, or that has a warning. */
export interface ResourceChange {
  operation: string;
  urn: string;
  /** Name in the program. */
  resource: string;
  type: string;
  properties: PropertyChange[];
  warnings: string[];
}

/** Text of an unknown value. */
export const unknownLabel = "known after deployment";

/** Placeholder of a secret value. */
export const secretValue = "[secret]";

/** Operations in the order of the table: destructive operations first. */
const operationOrder = ["replace", "delete", "update", "create"];
const rankOf = ({ operation }: ResourceChange): number =>
  operationOrder.includes(operation) ? operationOrder.indexOf(operation) : operationOrder.length;

/** Compares by code units, for an order that is the same on every machine. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * The changed resources of a preview: replacements, deletions, updates, creations, each in the order of their URNs. The new values are
 * those of the program, or those of the service in a refresh.
 */
export function changesOf({ steps, warnings }: Preview, source: "program" | "service" = "program"): ResourceChange[] {
  const changes = new Map<string, ResourceChange>();
  for (const step of steps) {
    const warningTexts = warnings.filter(({ urn }) => urn === step.urn).map(({ text }) => text);
    // The steps of one replacement have the same URN. A refresh without changes has its own name.
    const operation = /replace/.test(step.op) ? "replace" : step.op === "refresh" ? "same" : step.op;
    if ((operation === "same" && warningTexts.length === 0) || changes.has(step.urn)) continue;
    const { name, type } = parseUrn(step.urn);
    changes.set(step.urn, {
      operation,
      urn: step.urn,
      resource: name,
      type: shortType(type),
      properties: operation === "same" ? [] : propertiesOf(step, kindOf(type), source),
      warnings: [...new Set(warningTexts)].sort(compare),
    });
  }
  return [...changes.values()].sort((a, b) => rankOf(a) - rankOf(b) || compare(a.urn, b.urn));
}

/** The changed properties of a resource. */
function propertiesOf(step: Step, kind: Kind | undefined, source: "program" | "service"): PropertyChange[] {
  const [olds, news] = [visibleInputs(step.oldState?.inputs, kind), visibleInputs(step.newState?.inputs, kind)];
  if (!step.newState) return [];
  if (!step.oldState) return kind === undefined ? [] : settingsOf(step, news, kind);
  const { detailedDiff } = step;
  const reasons = (step.replaceReasons ?? []).map((key) => pathText([key]));
  const forcesReplacement = (property: string): boolean => reasons.some((reason) => overlap(reason, property));
  // The engine reports no paths for updates of dynamic resources.
  const reported = detailedDiff ? Object.keys(detailedDiff) : reasons;
  // Paths that the provider found different, in its dialect; none in a refresh.
  const compared = source === "program" && detailedDiff ? reported : [];
  const changes = findDifferences([], olds, news)
    .filter(({ path: [key = ""] }) => !isEquivalent(step, key, kind, source))
    .filter(({ path }) => compared.length === 0 || compared.some((other) => overlap(other, pathText(path))))
    // The default name of a replacement is drawn anew in every preview.
    .filter(({ path, old, new: value }) => !(path.join() === "name" && [old, value].every(isDefaultName(step.urn))))
    .map(({ path, old, new: value }) => ({
      property: pathText(path),
      old: maskCredentials(path.at(-1) ?? "", old),
      new: maskCredentials(path.at(-1) ?? "", value),
      forcesReplacement: forcesReplacement(pathText(path)),
    }));
  // Both sides of a changed secret look the same.
  const secretPaths = maskedPaths([], olds, news);
  const changedSecrets =
    changes.length + reported.length === 0
      ? secretPaths
      : reported.filter(
          (path) =>
            secretPaths.some((secret) => overlap(path, secret)) &&
            !changes.some(({ property }) => overlap(path, property)),
        );
  return [
    ...changes,
    ...changedSecrets.map((property) => ({
      property,
      old: secretValue,
      new: secretValue,
      forcesReplacement: forcesReplacement(property),
    })),
  ];
}

/** Texts of the paths with a secret on both sides. */
function maskedPaths(path: string[], old: unknown, value: unknown): string[] {
  if (isRecord(old) && isRecord(value))
    return Object.keys(value).flatMap((key) => maskedPaths([...path, key], old[key], value[key]));
  return hasMaskedValue(old) && hasMaskedValue(value) ? [pathText(path)] : [];
}

/** True if one path is the other one or leads to it. */
function overlap(path: string, other: string): boolean {
  const [short = "", long = ""] = path.length < other.length ? [path, other] : [other, path];
  return long.startsWith(short) && /^([.[]|$)/.test(long.slice(short.length));
}

/** True if a property that looks different is the same, or if the program omits it, so that the service may have any value. */
function isEquivalent(step: Step, key: string, kind: Kind | undefined, source: "program" | "service"): boolean {
  const sides = [step.oldState?.inputs, step.newState?.inputs].map((inputs): Properties => toProperties(inputs ?? {}));
  if (sides.every((inputs) => isRecorded(inputs, key))) return true;
  const [olds = {}, news = {}] = sides;
  const shape = kind && kinds[kind].inputs;
  if (!shape?.shape[key]) return false;
  return (
    (source === "service" && isOmitted(shape, key, olds)) || diffProperty(shape, key, olds[key], news[key]).length === 0
  );
}

/** The settings of a new resource that differ from the defaults. */
function settingsOf({ urn }: Step, news: Record<string, unknown>, kind: Kind): PropertyChange[] {
  const { shape } = kinds[kind].inputs;
  return Object.entries(news).flatMap(([property, value]) => {
    const schema = shape[property];
    const isDefaultValue =
      (schema !== undefined && isDeepStrictEqual(propertyOf(schema).defaultValue, value)) ||
      (property === "name" && isDefaultName(urn)(value));
    return isDefaultValue
      ? []
      : [{ property, old: undefined, new: maskCredentials(property, value), forcesReplacement: false }];
  });
}

const isDefaultName =
  (urn: string) =>
  (value: unknown): boolean =>
    typeof value === "string" && isGeneratedName(value, urn);

/** Inputs without internal properties, secrets masked, and with a label for each unknown value. */
function visibleInputs(
  inputs: Record<string, unknown> | null | undefined,
  kind: Kind | undefined,
): Record<string, unknown> {
  const shape = kind === undefined ? {} : kinds[kind].inputs.shape;
  const entries = Object.entries(inputs ?? {}).filter(([key]) => !key.startsWith("__"));
  return Object.fromEntries(
    entries.map(([key, value]) => {
      const schema = shape[key];
      return [key, schema && optionsOf(schema).secret ? secretValue : visibleValue(value)];
    }),
  );
}

/** A value with secrets masked and unknown values labelled, at any depth. */
function visibleValue(value: unknown): unknown {
  if (isSecret(value)) return secretValue;
  if (value === unknownText) return unknownLabel;
  if (Array.isArray(value)) return value.map(visibleValue);
  return isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, visibleValue(item)]))
    : value;
}

/** A value at a key, with variables that are likely to be credentials masked at any depth. */
function maskCredentials(key: string, value: unknown): unknown {
  if (isPlainCredential(key, value)) return secretValue;
  return isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, maskCredentials(name, item)]))
    : value;
}

interface Difference {
  path: string[];
  old: unknown;
  new: unknown;
}

/** True if a value is masked, or contains a masked value. */
const hasMaskedValue = (value: unknown): boolean =>
  value === secretValue ||
  ((Array.isArray(value) || isRecord(value)) && Object.values(value).some((item) => hasMaskedValue(item)));

/**
 * The deepest places that differ; lists are compared as a whole. The old value of an input that becomes secret is masked, because it may
 * be the secret.
 */
function findDifferences(path: string[], old: unknown, value: unknown): Difference[] {
  if (isDeepStrictEqual(old, value)) return [];
  if (!isRecord(old) || !isRecord(value))
    return [{ path, old: old !== undefined && hasMaskedValue(value) ? secretValue : old, new: value }];
  const keys = [...new Set([...Object.keys(old), ...Object.keys(value)])].sort(compare);
  return keys.flatMap((key) => findDifferences([...path, key], old[key], value[key]));
}
