import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { isProperties, type Path, type Properties, toProperties, type Value } from "../../engine/values";
import type { Change } from "../../framework/contract";
import { foreignSettings } from "./container";
import { checkedInputs, isContainerKey } from "./inputs";

/** Name of the state property that marks unverified settings of an endpoint. */
export const unverifiedKey = "unverified";

/** Value of the state property `unverifiedKey`: the settings to which a failed verification returns the endpoint. */
export interface Unverified {
  /** Previous values of the settings that have changed; null if unset. */
  before: Properties;
  /** True if the previous settings were not verified either. */
  neverVerified?: boolean | undefined;
}

/**
 * Results of an update with a verification, and what the engine records: whose settings, and the mark. `pending` marks that a
 * failure of the next verification returns the endpoint to the previous settings; `unless verified` marks previous
 * settings that no verification has confirmed, so that the next deployment verifies them.
 */
export const recordedStates = {
  /** The update was sent, but its result is unknown. */
  unconfirmed: { settings: "old", mark: "pending" },
  /** The verification was cancelled. */
  interrupted: { settings: "new", mark: "pending" },
  /** The verification failed, and the previous settings are back. */
  rolledBack: { settings: "previous", mark: "unless verified" },
  /** The verification failed, and so did the rollback. */
  rollbackFailed: { settings: "new", mark: "pending" },
  /** The verification failed, and no setting of the endpoint could return it to an earlier version. */
  kept: { settings: "old", mark: "never verified" },
} as const satisfies Record<
  string,
  { settings: "old" | "new" | "previous"; mark: "pending" | "unless verified" | "never verified" }
>;
export type FailedResult = keyof typeof recordedStates;

/** The mark of settings that no verification has confirmed. */
export const neverVerified: Properties = { [unverifiedKey]: { before: {}, neverVerified: true } };

/** Returns the mark in the state after a failed update. */
export function markAfter(result: FailedResult, previous: Unverified): Properties {
  const { mark } = recordedStates[result];
  const { before, neverVerified: isUnverified = false } = previous;
  if (mark === "pending")
    return toProperties({ [unverifiedKey]: { before, ...(isUnverified && { neverVerified: true }) } });
  return mark === "never verified" || isUnverified ? neverVerified : {};
}

/** The container in a mark of version 0.1, which was that of no template. */
const containerOfMark = z.object({
  imageName: z.string(),
  containerDiskInGb: z.number(),
  dockerArgs: z.string(),
  env: z.record(z.string(), z.string()),
  ports: z.string(),
  containerRegistryAuthId: z.string().nullish(),
});

/** Returns the mark in a state; undefined if all settings are verified. */
export function unverifiedIn(state: Properties): Unverified | undefined {
  const value = state[unverifiedKey];
  if (!isProperties(value)) return undefined;
  const { before, container } = value;
  const { data } = containerOfMark.safeParse(container);
  return {
    before: {
      ...(isProperties(before) ? before : {}),
      ...(data && { templateId: null, ...toProperties(data) }),
    },
    neverVerified: !isProperties(before) || value["neverVerified"] === true,
  };
}

const restoredSecrets = ["env", "dockerArgs", "dockerEntrypoint", "dockerStartCmd"];

/**
 * Returns the paths of a state that contain the values at secret paths: the mark repeats settings, which a rollback restores. Variables
 * and arguments of the service may repeat secrets of a template.
 */
export const derivedSecrets = (paths: readonly Path[], outputs: Properties, known: readonly Properties[]): Path[] => [
  ...restoredSecrets.map((key) => [unverifiedKey, "before", key]),
  ...foreignSettings(outputs, known),
  ...paths.map((path) =>
    path[0] === unverifiedKey && path[1] === "before" ? path.slice(2) : [unverifiedKey, "before", ...path],
  ),
];

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

const triggersIn = (verify: Value | undefined): Value | undefined =>
  isProperties(verify) ? verify["triggers"] : undefined;

/** Returns true if the triggers of an existing verification changed. */
export function triggersChanged(olds: Properties, news: Properties): boolean {
  if (!isProperties(olds["verify"]) || !isProperties(news["verify"])) return false;
  return !isDeepStrictEqual(triggersIn(olds["verify"]) ?? [], triggersIn(news["verify"]) ?? []);
}

/** Returns the change that resumes an unfinished verification without a changed input. */
export const pendingVerification = (olds: Properties, news: Properties): Change[] =>
  unverifiedIn(olds) && isProperties(news["verify"]) ? [{ path: ["verify"], kind: "update", replace: false }] : [];

/** Returns warnings for previews about changes that cannot be rolled back. */
export function inPlaceWarnings(changes: readonly Change[]): string[] {
  const changesInPlace =
    changes.some(({ path }) => path[0] === "verify" && path[1] === "triggers") &&
    !changes.some(({ path: [key = ""] }) => isContainerKey(key));
  return changesInPlace
    ? [
        "verify.triggers: the template changes in place, so a version that fails verification cannot be rolled back; " +
          "to enable the rollback, set replaceOnChange of the Template",
      ]
    : [];
}
