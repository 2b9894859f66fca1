import { isDeepStrictEqual } from "node:util";
import type { Change, Properties, Secrets, Value } from "../../lifecycle/contract";
import { isSecretAt } from "../../lifecycle/properties/secret-paths";
import { isProperties } from "../../lifecycle/properties/values";
import { checkedInputs } from "./inputs";

/** Name of the state property that marks unverified settings of an endpoint. */
export const unverifiedKey = "unverified";

/** Value of the state property `unverifiedKey`. */
export interface Unverified {
  /** Last verified values of the settings that have changed since; null if unset. Absent if no version was verified. */
  before?: Properties;
}

/** Returns the unverified settings in a state; undefined if all are verified. */
export function unverifiedIn(state: { [key: string]: unknown }): Unverified | undefined {
  const value = state[unverifiedKey];
  if (!isPropertiesValue(value)) return undefined;
  const { before } = value;
  return isProperties(before) ? { before } : {};
}

const isPropertiesValue = (value: unknown): value is Properties =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns the inputs in the properties of a state, overridden by `overrides`; null removes an input. */
export function inputsIn(state: Properties, overrides: Properties = {}): Properties {
  const keys = Object.keys(checkedInputs.shape);
  const entries = keys.map((key): [string, Value | undefined] => [key, key in overrides ? overrides[key] : state[key]]);
  return Object.fromEntries(
    entries.flatMap(([key, value]) => (value === undefined || value === null ? [] : [[key, value]])),
  );
}

/** Inputs that are not sent to the service. */
const providerInputs: readonly string[] = ["verify", "adoptExisting"];

/** Returns the names of the service's settings that an update changes. */
export const changedSettingNames = (changed: (key: string) => boolean): string[] =>
  Object.keys(checkedInputs.shape).filter((key) => changed(key) && !providerInputs.includes(key));

/** Returns the previous values of the settings that an update changes. Secrets are omitted, so a rollback cannot restore them. */
export function oldSettings(
  olds: Properties,
  changed: (key: string) => boolean,
  secrets: Secrets | undefined,
): Properties {
  const keys = changedSettingNames(changed).filter((key) => !isSecretAt([key], secrets?.paths ?? []));
  return Object.fromEntries(keys.map((key) => [key, olds[key] ?? null]));
}

const triggersIn = (verify: unknown): unknown => (isPropertiesValue(verify) ? verify["triggers"] : undefined);

/** Returns true if the triggers of an existing verification changed. */
export function triggersChanged(olds: { [key: string]: unknown }, verify: unknown): boolean {
  if (!isPropertiesValue(olds["verify"]) || !isPropertiesValue(verify)) return false;
  return !isDeepStrictEqual(triggersIn(olds["verify"]) ?? [], triggersIn(verify) ?? []);
}

/** Returns the change that resumes an unfinished verification without a changed input. */
export const pendingVerification = (olds: Properties, news: Properties): Change[] =>
  unverifiedIn(olds) && isPropertiesValue(news["verify"]) ? [{ path: ["verify"], kind: "update", replace: false }] : [];

/** Returns warnings for previews about changes that cannot be rolled back. */
export function inPlaceWarnings(changes: readonly Change[]): string[] {
  const changesInPlace =
    changes.some(({ path }) => path[0] === "verify" && path[1] === "triggers") &&
    !changes.some(({ path }) => path[0] === "templateId");
  return changesInPlace
    ? [
        "verify.triggers: the template changes in place, so a version that fails verification cannot be rolled back; " +
          "to enable the rollback, set replaceOnChange of the Template",
      ]
    : [];
}
