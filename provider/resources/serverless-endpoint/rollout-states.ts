import { isDeepStrictEqual } from "node:util";
import { isProperties, type Path, type Properties, toProperties, type Value } from "../../engine/values";
import type { Change } from "../../framework/contract";
import { ResourceInitError } from "../../framework/errors";
import type { HelpKey } from "../../framework/help";
import { defaultsOf } from "../../framework/properties/defaults";
import { startKeys } from "../template/start-arguments";
import { checkedInputs, isContainerKey } from "./inputs";

/**
 * States of the settings that the engine records for an endpoint: a worker has completed the job of `verify`; nothing has verified
 * them; or an update has changed them, and the next failure restores the previous settings.
 */
type RolloutState = "verified" | "unverified" | "rollingOut";

/** States before an update. */
const recorded = ["verified", "unverified", "rollingOut"] as const satisfies RolloutState[];

interface Transition {
  from: readonly ("absent" | RolloutState)[];
  to: RolloutState | "previous";
  records: "program" | "state" | "previous" | "found";
  /** Key of the failure's help page. */
  help?: HelpKey;
}

/**
 * All transitions of an endpoint with `verify` by their trigger. `to` is the next state; "previous" is that of the settings before the
 * update. `records` selects the inputs in the engine's state: those of the program, the state, the version before the
 * update, or those that a refresh found.
 */
const transitions = {
  /** The verification of a new endpoint failed. */
  createFailed: { from: ["absent"], to: "unverified", records: "program", help: "verification" },
  /** The verification of a new endpoint was cancelled, or its create was killed. */
  createInterrupted: { from: ["absent"], to: "unverified", records: "program" },
  /** A create adopts an existing endpoint, and continues as an update. */
  adopted: { from: ["absent"], to: "unverified", records: "program" },
  /** A refresh found another container. */
  drifted: { from: ["verified"], to: "unverified", records: "found" },
  /** A worker of the new version completed the job. */
  verified: { from: recorded, to: "verified", records: "program" },
  /** The update was sent, but its result is unknown. */
  unconfirmed: { from: recorded, to: "rollingOut", records: "state" },
  /** The verification was cancelled. */
  interrupted: { from: recorded, to: "rollingOut", records: "program" },
  /** The verification failed, and the previous settings are back. */
  rolledBack: { from: recorded, to: "previous", records: "previous", help: "verification" },
  /** The verification failed, and so did the rollback. */
  rollbackFailed: { from: recorded, to: "rollingOut", records: "program", help: "verification" },
  /** The verification failed, and no setting of the endpoint could return it to an earlier version. */
  kept: { from: recorded, to: "unverified", records: "state", help: "verification" },
} as const satisfies Record<string, Transition>;
type Trigger = keyof typeof transitions;

/** Triggers that end an update of an endpoint in any state. */
export type UpdateTrigger = {
  [Key in Trigger]: RolloutState extends (typeof transitions)[Key]["from"][number] ? Key : never;
}[Trigger];

/** Name of the state property with the unverified mark, which verified settings do not have. */
export const unverifiedKey = "unverified";

/** The unverified mark: the settings to which a failed verification returns the endpoint. */
export interface Unverified {
  /** Previous values of the settings that have changed; null if unset. */
  before: Properties;
  /** True if the previous settings were not verified either. */
  neverVerified: boolean;
}

const noPrevious: Unverified = { before: {}, neverVerified: false };

/** Returns the mark of a state of the endpoint, as a property of the engine's state; `previous` are the settings before an update. */
export function markAfter(trigger: Trigger, previous: Unverified = noPrevious): Properties {
  const { to } = transitions[trigger];
  const { before, neverVerified } = previous;
  if (to === "verified" || (to === "previous" && !neverVerified)) return {};
  const mark =
    to === "rollingOut" ? { before, ...(neverVerified && { neverVerified }) } : { before: {}, neverVerified: true };
  return toProperties({ [unverifiedKey]: mark });
}

/** Returns the mark in a state; undefined if all settings are verified. */
export function unverifiedIn(state: Properties): Unverified | undefined {
  const mark = state[unverifiedKey];
  if (!isProperties(mark)) return undefined;
  const { before, neverVerified } = mark;
  return { before: isProperties(before) ? before : {}, neverVerified: neverVerified === true };
}

/** Returns the failure of a create or an update of an endpoint, with the state that the engine records. */
export function failureAfter(
  trigger: Trigger,
  message: string,
  { id, outputs }: { id: string; outputs: object },
  olds: Properties = {},
  previous: Unverified = noPrevious,
): ResourceInitError {
  const { records, help }: Transition = transitions[trigger];
  const restored = inputsIn(olds, records === "previous" ? previous.before : {});
  const inputs = records === "program" ? undefined : { ...restored, ...defaultsOf(olds) };
  const recordedOutputs = { ...toProperties(outputs), ...markAfter(trigger, previous) };
  return new ResourceInitError(message, id, recordedOutputs, { inputs, help });
}

/** Returns the failure of a create that left an endpoint, which nothing has verified. */
export function asUnverified(error: unknown): unknown {
  if (!(error instanceof ResourceInitError) || unverifiedKey in error.outputs) return error;
  const { message, id, outputs, inputs, help, cause } = error;
  return new ResourceInitError(message, id, { ...outputs, ...markAfter("createInterrupted") }, { inputs, help, cause });
}

/** Returns the path of a setting in the mark. */
export const markedPath = (path: Path): Path => [unverifiedKey, "before", ...path];

/** Returns true if a path is that of a setting in the mark. */
const isMarked = ([first, second]: Path): boolean => first === unverifiedKey && second === "before";

/** Settings whose values may be secrets of a template. */
export const confidentialKeys: readonly string[] = ["env", ...startKeys];

/** Returns the paths of a state that contain the values at secret paths: the mark repeats settings, which a rollback restores. */
export const derivedSecrets = (paths: readonly Path[]): Path[] => [
  ...confidentialKeys.map((key) => markedPath([key])),
  ...paths.map((path) => (isMarked(path) ? path.slice(2) : markedPath(path))),
];

/** Returns the inputs in the properties of a state, overridden by `overrides`; null removes an input. */
export function inputsIn(state: Properties, overrides: Properties = {}): Properties {
  const keys = Object.keys(checkedInputs.shape);
  const entries = keys.map((key): [string, Value | undefined] => [key, key in overrides ? overrides[key] : state[key]]);
  return Object.fromEntries(
    entries.flatMap(([key, value]) => (value === undefined || value === null ? [] : [[key, value]])),
  );
}

/** Returns the names of the service's settings that an update changes; `verify` is not sent. */
export const changedSettingNames = (changed: (key: string) => boolean): string[] =>
  Object.keys(checkedInputs.shape).filter((key) => key !== "verify" && changed(key));

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
