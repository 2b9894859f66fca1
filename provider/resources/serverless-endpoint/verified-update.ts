import type { EndpointWorkers } from "serverless-compute-api";
import { containerOf, unmarked } from "serverless-compute-api/shapes";
import { type Properties, toProperties, toValue, type Value } from "../../engine/values";
import { callOptions } from "../../framework/calls";
import type { Context } from "../../framework/contract";
import type { Created, Update } from "../../framework/definition";
import type { ResourceInitError } from "../../framework/errors";
import { acquirePoll } from "../../framework/poll-limiter";
import { withoutOmitted } from "../../framework/properties/defaults";
import { diffProperty } from "../../framework/properties/diff";
import { mayBeApplied } from "../../framework/unfinished";
import { template } from "../template/definition";
import { revisionOf } from "../template/revision";
import { differingKeys, runsContainer, servedContainer, setsContainer, withTemplate } from "./container";
import { containerKeys, type Inputs, isContainerKey, type ServiceOutputs, serverlessEndpointInputs } from "./inputs";
import { observe } from "./record";
import { rollBack, updateMessage } from "./rollback";
import {
  changedSettingNames,
  failureAfter,
  inputsIn,
  markAfter,
  triggersChanged,
  type Unverified,
  type UpdateTrigger,
  unverifiedIn,
} from "./rollout-states";
import { applyUpdate } from "./update";
import { verifyEndpoint } from "./verification";

/** Verifies a new endpoint. If the verification fails, the endpoint stays in the state as unverified. */
export async function verifyCreated({ id, outputs }: Created, inputs: Inputs, context: Context): Promise<void> {
  const { verify, workersMax } = inputs;
  if (!verify) return;
  try {
    await verifyEndpoint(id, { verify, workersMax }, undefined, context);
  } catch (error) {
    const { aborted } = context.signal;
    const problem = aborted ? "but its verification was interrupted" : "but it failed its verification";
    const advice = 'The next "pulumi up" verifies it again; "pulumi destroy" deletes it.';
    const message = `endpoint "${inputs.name}" (${id}) was created, ${problem}\n${updateMessage(error, inputs, context)}\n${advice}`;
    throw failureAfter(aborted ? "createInterrupted" : "createFailed", message, { id, outputs });
  }
}

/**
 * Updates an endpoint. If its workers' content changes, the update succeeds once a worker of the new version has completed the
 * job of `verify`; otherwise the update is rolled back.
 */
export async function updateVerified(id: string, requested: Update<Inputs>, context: Context): Promise<ServiceOutputs> {
  const { olds, news } = requested;
  const { verify, workersMax } = news;
  const pending = unverifiedIn(olds);
  const changesContainer = containerKeys.some(requested.changed);
  const changesInPlace = !changesContainer && triggersChanged(olds, toProperties(news));
  if (!verify || !(changesContainer || changesInPlace || pending)) return applyUpdate(id, requested, context);
  const previous = await readPreviousVersion(id, requested, context);
  previous.neverVerified ||= changesInPlace;
  // The service may have applied any part of an unverified update, so all of its settings are sent again.
  const changed = (key: string): boolean => requested.changed(key) || Object.hasOwn(previous.before, key);
  const update = { ...requested, changed };
  const fail = (trigger: UpdateTrigger, message: string, outputs: object): ResourceInitError =>
    failureAfter(trigger, message, { id, outputs }, olds, previous);
  const workers = containerKeys.some(changed) ? await readOldWorkers(id, context) : undefined;
  const outputs = await applyUpdate(id, update, context).catch((error: unknown) => {
    if (!mayBeApplied(error, context)) throw error;
    const message =
      `endpoint "${news.name}" (${id}) may or may not have been updated\n${updateMessage(error, news, context)}\n` +
      'The next "pulumi up" sends the settings again and verifies the endpoint.';
    throw fail("unconfirmed", message, olds);
  });
  // If the version is unchanged, an interrupted deployment has already applied the change.
  const isSameVersion = context.clients.dialect === "v1" && workers?.version === outputs.version;
  try {
    const rollout = await verifyEndpoint(id, { verify, workersMax }, isSameVersion ? undefined : workers, context);
    return { ...outputs, version: rollout.version() ?? outputs.version, ...markAfter("verified", previous) };
  } catch (error) {
    const reason = updateMessage(error, news, context);
    if (context.signal.aborted)
      throw fail(
        "interrupted",
        `endpoint "${news.name}" (${id}) was updated, but its verification was interrupted\n${reason}\n` +
          'The next "pulumi up" verifies it, and rolls it back if that fails.',
        outputs,
      );
    const previousVersion = previous.isServing ? workers?.version : undefined;
    throw await rollBack(
      { id, update, previous, outputs, reason, verify, previousVersion, changesInPlace, fail },
      context,
    );
  }
}

async function readOldWorkers(id: string, context: Context): Promise<EndpointWorkers> {
  await acquirePoll(context);
  return context.clients.management.readWorkers(id, callOptions(context));
}

/**
 * Replaces the template that REST v1 shows for a copy of REST v2 by the copied one, if it has the same settings. The former disappears
 * when the endpoint gets another template.
 */
async function withCopiedTemplate(served: Properties, context: Context): Promise<Properties> {
  const { templateId } = served;
  if (context.clients.dialect !== "v1" || typeof templateId !== "string" || context.owners.has(templateId))
    return served;
  const { get } = template.reader(context);
  const copy = await get(templateId, context);
  if (!copy) return served;
  const { templateId: copiedId, container } = unmarked(containerOf(copy));
  const copied = copiedId === undefined ? undefined : await get(copiedId, context);
  const isSame = copied && revisionOf(container) === revisionOf(copied);
  return isSame ? { ...served, templateId: copied.id } : served;
}

/** Settings before an update, to which a failed verification returns the endpoint. */
interface PreviousVersion extends Unverified {
  /** True if the endpoint runs this version; false if an interrupted deployment has already changed it. */
  isServing: boolean;
}

/**
 * Reads the settings that an update changes, before the update. A value that was changed outside the stack is the previous one. An
 * interrupted deployment leaves values of the state or of the program. If it was killed, the endpoint runs a template of the stack
 * that is not in its state. In both cases, the previous values are the last ones that were verified.
 */
async function readPreviousVersion(
  id: string,
  { olds: state, news, reset, changed }: Update<Inputs>,
  context: Context,
): Promise<PreviousVersion> {
  const program = toProperties(news);
  const known = withoutOmitted(state);
  const pending = unverifiedIn(state);
  const keys = new Set([...changedSettingNames(changed), ...reset, ...Object.keys(pending?.before ?? {})]);
  const { neverVerified = false } = pending ?? {};
  if (keys.size === 0 && !pending) return { before: {}, neverVerified, isServing: true };
  const listed = await context.clients.management.readEndpoint(id, callOptions(context));
  const record = listed && (await withTemplate(listed, known, context));
  const actual: { [key: string]: unknown } = record ? observe(record, state, context).inputs : {};
  const served = record && (await withCopiedTemplate(servedContainer(record, known), context));
  const hasContainer = served !== undefined && setsContainer(known);
  const otherKeys = hasContainer ? differingKeys(served, known, context.clients.dialect) : containerKeys;
  // The program still has the container of an unverified version, which a killed update may have changed.
  if (hasContainer && pending && ![...keys].some(isContainerKey)) for (const key of otherKeys) keys.add(key);
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
  if (!served || ![...keys].some(isContainerKey)) return { before, neverVerified, isServing: true };

  // The settings of a container are restored together.
  const { templateId = null } = served;
  const serves = (inputs: Properties): Promise<boolean> => runsContainer(listed, inputs, context);
  const verified = inputsIn(state, pending?.before);
  const servesState = otherKeys.length === 0;
  const isOfOtherTemplate = async (): Promise<boolean> =>
    setsContainer(verified) &&
    typeof templateId === "string" &&
    context.owners.has(templateId) &&
    ((await serves({ ...known, templateId })) || (await serves({ ...program, templateId })));
  const { templateId: verifiedId } = verified;
  // REST v1 deletes no template of an endpoint.
  const isRestorable = async (): Promise<boolean> =>
    !record.container ||
    typeof verifiedId !== "string" ||
    (await template.reader(context).get(verifiedId, context)) !== undefined;
  const isOfStack = (servesState || (await serves(program)) || (await isOfOtherTemplate())) && (await isRestorable());
  if (!isOfStack) {
    const changedKeys = new Set([...[...keys].filter(isContainerKey), ...otherKeys]);
    const container = Object.fromEntries([...changedKeys].map((key) => [key, served[key] ?? null]));
    return { before: { ...before, ...container }, neverVerified: true, isServing: true };
  }
  const restored = servesState ? [...keys].filter(isContainerKey) : [...keys];
  return {
    before: { ...before, ...Object.fromEntries(restored.map((key) => [key, lastVerified(key)])) },
    neverVerified,
    isServing: await serves(verified),
  };
}
