import { type Properties, toProperties, toValue, type Value } from "../../engine/values";
import { callOptions } from "../../framework/calls";
import type { Context } from "../../framework/contract";
import type { Update } from "../../framework/definition";
import { withoutOmitted } from "../../framework/properties/defaults";
import { diffProperty } from "../../framework/properties/diff";
import { differingKeys, servedContainer, withTemplate } from "./container";
import { containerKeys, type Inputs, isContainerKey, serverlessEndpointInputs } from "./inputs";
import { observe } from "./record";
import { changedSettingNames, inputsIn, type Unverified, unverifiedIn } from "./unverified";

/** Settings before an update, to which a failed verification returns the endpoint. */
export interface PreviousVersion extends Unverified {
  /** True if the endpoint runs this version; false if an interrupted deployment has already changed it. */
  isServing: boolean;
}

/** Returns true if inputs have a container. */
export const setsContainer = (inputs: Properties): boolean =>
  typeof inputs["templateId"] === "string" || typeof inputs["imageName"] === "string";

/**
 * Reads the settings that an update changes, before the update. A value that was changed outside the stack is the previous one. An
 * interrupted deployment leaves values of the state or of the program. If it was killed, the endpoint runs a template of the stack
 * that is not in its state. In both cases, the previous values are the last ones that were verified.
 */
export async function readPreviousVersion(
  id: string,
  { olds, news, changed }: Update<Inputs>,
  context: Context,
): Promise<PreviousVersion> {
  const [state, program] = [toProperties(olds), toProperties(news)];
  const known = withoutOmitted(state);
  const pending = unverifiedIn(state);
  const keys = new Set([...changedSettingNames(changed), ...Object.keys(pending?.before ?? {})]);
  const { neverVerified = false } = pending ?? {};
  if (keys.size === 0) return { before: {}, neverVerified, isServing: true };
  const listed = await context.clients.management.readEndpoint(id, callOptions(context));
  const record = listed && (await withTemplate(listed, known, context));
  const actual: { [key: string]: unknown } = record ? observe(record, state, context).inputs : {};
  const lastVerified = (key: string): Value =>
    (pending && Object.hasOwn(pending.before, key) ? pending.before[key] : state[key]) ?? null;
  const valueBefore = (key: string): Value => {
    const value = toValue(actual[key]);
    const isOwnValue = [state, program].some(
      (known) => diffProperty(serverlessEndpointInputs, key, known[key], value, context.clients.dialect).length === 0,
    );
    return !(key in actual) || isOwnValue ? lastVerified(key) : (value ?? null);
  };
  const before = Object.fromEntries([...keys].map((key) => [key, valueBefore(key)]));
  if (!record || ![...keys].some(isContainerKey)) return { before, neverVerified, isServing: true };

  // The settings of a container are restored together.
  const served = servedContainer(record, known, context);
  const { templateId = null } = served;
  const serves = (inputs: Properties): boolean =>
    setsContainer(inputs) && differingKeys(served, inputs, context.clients.dialect).length === 0;
  const verified = inputsIn(state, pending?.before);
  const isOfOtherTemplate =
    typeof templateId === "string" &&
    context.ownedIds.has(templateId) &&
    [known, program].some((inputs) => serves({ ...inputs, templateId }));
  const isOfStack = serves(program) || (isOfOtherTemplate && setsContainer(verified));
  if (!serves(known) && !isOfStack) {
    const otherKeys = setsContainer(known) ? differingKeys(served, known, context.clients.dialect) : containerKeys;
    const changedKeys = new Set([...[...keys].filter(isContainerKey), ...otherKeys]);
    const container = Object.fromEntries([...changedKeys].map((key) => [key, served[key] ?? null]));
    return { before: { ...before, ...container }, neverVerified: true, isServing: true };
  }
  const restored = serves(known) ? [...keys].filter(isContainerKey) : [...keys];
  return {
    before: { ...before, ...Object.fromEntries(restored.map((key) => [key, lastVerified(key)])) },
    neverVerified,
    isServing: serves(verified),
  };
}
