import type { EndpointRecord } from "serverless-compute-api";
import type { ContainerSettings } from "serverless-compute-api/shapes";
import { type Properties, stringAt, toProperties, toValue, type Value } from "../../engine/values";
import { callOptions } from "../../framework/calls";
import type { Context } from "../../framework/contract";
import type { Update } from "../../framework/definition";
import { diffProperty } from "../../framework/properties/diff";
import { revisionOf } from "../template/revision";
import { type Inputs, serverlessEndpointInputs } from "./inputs";
import { observe } from "./record";
import { changedSettingNames, type Unverified, unverifiedIn } from "./unverified";

/** Settings before an update, to which a failed verification returns the endpoint. */
export interface PreviousVersion extends Unverified {
  /** True if the endpoint runs this version; false if an interrupted deployment has already changed it. */
  isServing: boolean;
}

/** Template of an endpoint's workers, or their settings if no template has them. */
type Served = { templateId?: string | undefined; container?: ContainerSettings };

async function servedBy(record: EndpointRecord, olds: Properties, context: Context): Promise<Served> {
  const { container, copyId, templateId = stringAt(olds, "templateId") } = record;
  if (!container) return { templateId };
  const template =
    templateId === undefined
      ? undefined
      : await context.clients.management.readTemplate(templateId, callOptions(context));
  if (template && revisionOf(template) === revisionOf(container)) return { templateId };
  // With REST v1, the copy is itself a template.
  return copyId === undefined ? { container } : { templateId: copyId };
}

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
  const pending = unverifiedIn(state);
  const keys = new Set([...changedSettingNames(changed), ...Object.keys(pending?.before ?? {})]);
  if (pending?.container) keys.add("templateId");
  const { neverVerified = false, container } = pending ?? {};
  if (keys.size === 0) return { before: {}, neverVerified, isServing: true };
  const record = await context.clients.management.readEndpoint(id, callOptions(context));
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
  if (!record || !keys.has("templateId")) return { before, neverVerified, isServing: true };

  const { templateId = null, container: ownContainer } = await servedBy(record, state, context);
  if (ownContainer)
    return { before: { ...before, templateId: null }, container: ownContainer, neverVerified: true, isServing: true };
  const isInState = templateId === (state["templateId"] ?? null);
  const isOfStack = templateId === program["templateId"] || context.ownedIds.has(templateId ?? "");
  const verified = Object.fromEntries([...keys].map((key) => [key, lastVerified(key)]));
  const hasVerified =
    verified["templateId"] !== null || container !== undefined || templateId === program["templateId"];
  if (!isInState && !(isOfStack && hasVerified))
    return { before: { ...before, templateId }, neverVerified: true, isServing: true };
  return {
    before: isInState ? { ...before, templateId: lastVerified("templateId") } : verified,
    container,
    neverVerified,
    isServing: templateId === verified["templateId"],
  };
}
