import type { EndpointRecord } from "serverless-compute-api";
import { showValue } from "serverless-compute-api/shapes";
import { messageOf } from "../../engine/error-text";
import { type Properties, toProperties } from "../../engine/values";
import { callOptions, cleanupCallOptions } from "../../framework/calls";
import type { Context } from "../../framework/contract";
import type { Update } from "../../framework/definition";
import type { ResourceInitError } from "../../framework/errors";
import { toUserError } from "../../framework/messages";
import { defaultsOf } from "../../framework/properties/defaults";
import { hiddenValue, isSecretAt } from "../../framework/properties/secret-paths";
import { runsContainer, setsContainer } from "./container";
import { checkedInputs, type Inputs, isContainerKey, type ServiceOutputs, type Verify } from "./inputs";
import { deadlineOf, followRollout } from "./rollout";
import { confidentialKeys, inputsIn, markedPath, type Unverified, type UpdateTrigger } from "./rollout-states";
import { applyUpdate } from "./update";

/** Update with a failed verification. */
interface FailedUpdate {
  id: string;
  update: Update<Inputs>;
  previous: Unverified;
  /** Outputs of the update. */
  outputs: ServiceOutputs;
  /** Reason of the failed verification. */
  reason: string;
  verify: Verify;
  /** Version before the update, if it is known. */
  previousVersion: number | undefined;
  /** True if the update verifies a template that changed in place. */
  changesInPlace: boolean;
  /** Returns the failure with the state that the engine records. */
  fail: (trigger: UpdateTrigger, message: string, outputs: object) => ResourceInitError;
}

/** Returns the message for the user of a failed request of an update. */
export const updateMessage = (error: unknown, { name }: Inputs, { settings }: Context): string =>
  messageOf(toUserError(error, { label: `ServerlessEndpoint "${name}"`, operation: "update", names: settings.names }));

/**
 * Returns true if a message may contain images. A template with a secret image has a secret revision. An endpoint depends on the
 * revision through `verify.triggers`, or through `templateId` if the program derives the id from it.
 */
const mayShowImages = ({ secrets }: Context): boolean =>
  !secrets.paths.some(
    ([first, second = "triggers"]) =>
      first === "templateId" || first === "imageName" || (first === "verify" && second === "triggers"),
  );

/** Returns the image of some inputs and the endpoint's version for a message; `fallback` if neither can be shown. */
async function describeVersion(
  { imageName: ownImage, templateId }: Partial<Inputs>,
  version: number | undefined,
  fallback: string,
  context: Context,
): Promise<string> {
  const versionLabel = version === undefined ? undefined : `version ${version}`;
  if (!mayShowImages(context)) return versionLabel ?? fallback;
  const { management } = context.clients;
  const template =
    ownImage === undefined && templateId !== undefined
      ? await management.readTemplate(templateId, cleanupCallOptions(context)).catch(() => undefined)
      : undefined;
  const imageName = ownImage ?? template?.imageName;
  if (!imageName) return versionLabel ?? fallback;
  return versionLabel === undefined ? imageName : `${imageName} (${versionLabel})`;
}

/** Returns settings as text; the values of secrets are hidden. */
const formatSettings = (settings: Properties, keys: readonly string[], context: Context): string =>
  keys
    .map((key) => {
      const isSecret =
        confidentialKeys.includes(key) ||
        (key === "imageName" && !mayShowImages(context)) ||
        [[key], markedPath([key])].some((path) => isSecretAt(path, context.secrets.paths));
      return `${key} ${isSecret ? hiddenValue : showValue(settings[key] ?? null)}`;
    })
    .join(", ");

/** Returns the settings for messages: all except container settings without a value. */
const shownKeys = (settings: Properties, keys: readonly string[]): string[] =>
  keys.filter((key) => !isContainerKey(key) || (settings[key] ?? null) !== null);

/**
 * Rolls back an update and waits for workers of the previous version. Returns the failure of the update, with its reason and the
 * endpoint's current version.
 */
export async function rollBack(failed: FailedUpdate, context: Context): Promise<ResourceInitError> {
  const { id, update, previous, outputs, reason, verify, previousVersion, changesInPlace, fail } = failed;
  const { olds, news } = update;
  const { before } = previous;
  const keys = Object.keys(before);
  const workers = await context.clients.management.readWorkers(id, callOptions(context)).catch(() => undefined);
  const failedVersion = await describeVersion(news, workers?.version, "the new version", context);
  const currentOutputs = { ...outputs, ...versionOf(workers?.version) };
  const keptMessage = (restored = ""): string =>
    `${failedVersion} failed its verification${
      changesInPlace
        ? " and keeps running, because the template changed in place"
        : ", and no earlier version passed one; it keeps running"
    }\n${reason}\n${restored}${
      changesInPlace
        ? "Revert or correct the template. With replaceOnChange of the Template, the endpoint is rolled back automatically."
        : 'The next "pulumi up" verifies it again.'
    }`;
  if (keys.length === 0) return fail("kept", keptMessage(), currentOutputs);
  const restoredInputs = inputsIn(olds, before);
  const restoresContainer = keys.some(isContainerKey);
  if (!setsContainer(restoredInputs))
    return fail(
      "rollbackFailed",
      `${failedVersion} failed its verification and keeps running, because the version before it is not known\n${reason}\n` +
        'The next "pulumi up" verifies the settings of the program again; deploy a version that works.',
      currentOutputs,
    );
  context.progress(`${failedVersion} failed its verification: rolling back ${keys.join(", ")}`);
  const target = checkedInputs.parse(restoredInputs);
  const rollbackUpdate = {
    olds: toProperties({ ...news, ...outputs }),
    news: target,
    settings: target,
    reset: [],
    properties: { ...restoredInputs, ...defaultsOf(olds) },
    changed: (key: string) => keys.includes(key),
  };
  let result = outputs;
  try {
    result = await applyUpdate(id, rollbackUpdate, context);
  } catch (error) {
    const endpoint = await context.clients.management
      .readEndpoint(id, cleanupCallOptions(context))
      .catch(() => undefined);
    const isRestored = await runsContainer(endpoint, toProperties(target), context).catch(() => false);
    // The rollback may have succeeded although its response was lost.
    if (!isRestored || !restoresContainer) return rollbackFailure(failed, { error, endpoint, failedVersion }, context);
  }
  const rollout = followRollout(id, workers, deadlineOf(verify, context), context);
  const isUp = await rollout.waitUntilSettled(target.workersMin).catch(() => false);
  const newVersion = rollout.version();
  const newVersionText =
    newVersion === undefined || newVersion === previousVersion ? "" : ` (as version ${newVersion})`;
  const servingVersion = await describeVersion(target, previousVersion, "the previous version", context);
  const shown = shownKeys(before, keys);
  const restored = formatSettings(before, shown, context);
  const settings = shown.length === 0 ? "" : `, with ${restored}`;
  const message = restoresContainer
    ? `${failedVersion} failed its verification; ${servingVersion} keeps serving${newVersionText}${settings}\n` +
      `${reason}\n${isUp ? `${rollout.text()}.` : `Its workers are not up yet (${rollout.text()}): check the endpoint.`} The next "pulumi up" retries the change.`
    : keptMessage(`Restored ${restored}. `);
  return fail("rolledBack", message, { ...result, ...versionOf(newVersion) });
}

const versionOf = (version: number | undefined): Properties => (version === undefined ? {} : { version });

/** Returns the template or the image of an endpoint for a message. */
const describeContainer = ({ templateId, container }: EndpointRecord, context: Context): string => {
  if (templateId !== undefined) return `template "${templateId}"`;
  return container && mayShowImages(context) ? `image "${container.imageName}"` : "another container";
};

/** Returns the failure of an update whose rollback also failed, with the endpoint's current template and the manual rollback. */
function rollbackFailure(
  { id, update, previous, outputs, reason, fail }: FailedUpdate,
  rollback: {
    error: unknown;
    endpoint: EndpointRecord | undefined;
    failedVersion: string;
  },
  context: Context,
): ResourceInitError {
  const { error, endpoint, failedVersion } = rollback;
  const { before } = previous;
  const keys = Object.keys(before);
  const { name } = update.news;
  const currentState = endpoint
    ? `The endpoint runs ${describeContainer(endpoint, context)}, unverified.`
    : `The endpoint could not be read; the update set ${formatSettings(toProperties(update.news), keys, context)}.`;
  const shown = shownKeys(before, keys);
  return fail(
    "rollbackFailed",
    [
      `${failedVersion} failed its verification, and the rollback failed: ${updateMessage(error, update.news, context)}`,
      reason,
      currentState,
      `To roll back endpoint "${name}" (${id}) manually, set ${formatSettings(before, shown, context)}.`,
      'The next "pulumi up" verifies the settings of the program, and rolls the endpoint back if that fails.',
    ].join("\n"),
    outputs,
  );
}
