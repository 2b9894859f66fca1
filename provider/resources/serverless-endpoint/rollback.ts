import { isDeepStrictEqual } from "node:util";
import type { EndpointRecord, EndpointWorkers } from "serverless-compute-api";
import { type ContainerSettings, showValue } from "serverless-compute-api/shapes";
import { type Properties, toProperties } from "../../engine/values";
import { callOptions, cleanupCallOptions } from "../../framework/calls";
import type { Context, ResourceInitError } from "../../framework/contract";
import type { Update } from "../../framework/definition";
import { toUserError } from "../../framework/messages";
import { hiddenValue, isSecretAt } from "../../framework/properties/secret-paths";
import { deadlineOf } from "./deadline";
import { checkedInputs, type Inputs, type Outputs, type Verify } from "./inputs";
import { followRollout } from "./rollout";
import { type FailedResult, inputsIn, type Unverified, unverifiedKey } from "./unverified";

/** Applies an update without a verification; `container` are settings of the workers instead of a template's. */
export type Apply = (
  id: string,
  update: Update<Inputs>,
  context: Context,
  container?: ContainerSettings,
) => Promise<Outputs>;

/** Update with a failed verification. */
interface FailedUpdate {
  id: string;
  update: Update<Inputs>;
  previous: Unverified;
  /** Outputs of the update. */
  outputs: Outputs;
  /** Reason of the failed verification. */
  reason: string;
  verify: Verify;
  apply: Apply;
  /** Version before the update, if it is known. */
  previousVersion: number | undefined;
  /** True if the update verifies a template that changed in place. */
  changesInPlace: boolean;
  /** Returns the failure with the state that the engine records. */
  fail: (result: FailedResult, message: string, outputs: object) => ResourceInitError;
}

/**
 * Returns true if a message may contain images. A template with a secret image has a secret revision. An endpoint depends on the
 * revision through `verify.triggers`, or through `templateId` if the program derives the id from it.
 */
const mayShowImages = ({ secrets }: Context): boolean =>
  !secrets?.paths.some(
    ([first, second = "triggers"]) => first === "templateId" || (first === "verify" && second === "triggers"),
  );

/** Returns an image and the endpoint's version for a message; `fallback` if neither can be shown. `image` may be a template's id. */
async function describeVersion(
  image: ContainerSettings | string | undefined,
  version: number | undefined,
  fallback: string,
  context: Context,
): Promise<string> {
  const versionLabel = version === undefined ? undefined : `version ${version}`;
  if (!mayShowImages(context)) return versionLabel ?? fallback;
  const { management } = context.clients;
  const content =
    typeof image === "string"
      ? await management.readTemplate(image, cleanupCallOptions(context)).catch(() => undefined)
      : image;
  if (!content?.imageName) return versionLabel ?? fallback;
  return versionLabel === undefined ? content.imageName : `${content.imageName} (${versionLabel})`;
}

/** Returns settings as text; the values of secrets are hidden. */
const formatSettings = (settings: Properties, keys: readonly string[], { secrets }: Context): string =>
  keys
    .map((key) => {
      const isSecret = [[key], [unverifiedKey, "before", key]].some((path) => isSecretAt(path, secrets?.paths ?? []));
      return `${key} ${isSecret ? hiddenValue : showValue(settings[key] ?? null)}`;
    })
    .join(", ");

/**
 * Rolls back an update and waits for workers of the previous version. Returns the failure of the update, with its reason and the
 * endpoint's current version.
 */
export async function rollBack(failed: FailedUpdate, context: Context): Promise<ResourceInitError> {
  const { id, update, previous, outputs, reason, verify, apply, previousVersion, changesInPlace, fail } = failed;
  const { news } = update;
  const { before, container } = previous;
  const keys = Object.keys(before);
  const workers = await context.clients.management.readWorkers(id, callOptions(context)).catch(() => undefined);
  const failedVersion = await describeVersion(news.templateId, workers?.version, "the new version", context);
  const currentOutputs = { ...outputs, ...versionOf(workers) };
  if (keys.length === 0)
    return fail(
      "kept",
      `${failedVersion} failed its verification${
        changesInPlace
          ? " and keeps running, because the template changed in place"
          : ", and no earlier version passed one; it keeps running"
      }\n${reason}\n${
        changesInPlace
          ? "Revert or correct the template. With replaceOnChange of the Template, the endpoint is rolled back automatically."
          : 'The next "pulumi up" verifies it again.'
      }`,
      currentOutputs,
    );
  const restoredInputs = inputsIn(toProperties(update.olds), before);
  const restoresTemplate = keys.includes("templateId");
  if (restoresTemplate && before["templateId"] === null && !container)
    return fail(
      "rollbackFailed",
      `${failedVersion} failed its verification and keeps running, because the version before it is not known\n${reason}\n` +
        'The next "pulumi up" verifies the settings of the program again; deploy a version that works.',
      currentOutputs,
    );
  context.progress(`${failedVersion} failed its verification: rolling back ${keys.join(", ")}`);
  const target = checkedInputs.parse({ templateId: news.templateId, ...restoredInputs });
  const rollbackUpdate = {
    olds: { ...news, ...outputs },
    news: target,
    changed: (key: string) => keys.includes(key) && !(container && key === "templateId"),
    ...(update.kept && { kept: update.kept }),
  };
  let result = outputs;
  try {
    result = await apply(id, rollbackUpdate, context, container);
  } catch (error) {
    const endpoint = await context.clients.management
      .readEndpoint(id, cleanupCallOptions(context))
      .catch(() => undefined);
    const isRestored = container
      ? isDeepStrictEqual(endpoint?.container, container)
      : endpoint?.templateId === target.templateId;
    // The rollback may have succeeded although its response was lost.
    if (!isRestored || !restoresTemplate)
      return rollbackFailure(failed, { error, endpoint, target, keys, failedVersion }, context);
  }
  const rollout = followRollout(id, workers, deadlineOf(verify, context), context);
  const isUp = await rollout.waitUntilSettled(target.workersMin).catch(() => false);
  const newVersion = rollout.version();
  const newVersionText =
    newVersion === undefined || newVersion === previousVersion ? "" : ` (as version ${newVersion})`;
  const servingVersion = await describeVersion(
    container ?? target.templateId,
    previousVersion,
    "the previous version",
    context,
  );
  const shownKeys = keys.filter((key) => !(container && key === "templateId"));
  const settings = shownKeys.length === 0 ? "" : `, with ${formatSettings(before, shownKeys, context)}`;
  const advice = 'The next "pulumi up" retries the change.';
  return fail(
    "rolledBack",
    `${failedVersion} failed its verification; ${servingVersion} keeps serving${newVersionText}${settings}\n` +
      `${reason}\n${isUp ? `${rollout.text()}. ${advice}` : `Its workers are not up yet (${rollout.text()}): check the endpoint. ${advice}`}`,
    { ...result, ...(newVersion === undefined ? {} : { version: newVersion }) },
  );
}

const versionOf = (workers: EndpointWorkers | undefined): Properties =>
  workers?.version === undefined ? {} : { version: workers.version };

/** Returns the failure of an update whose rollback also failed, with the endpoint's current template and the manual rollback. */
function rollbackFailure(
  { id, update, previous, outputs, reason, fail }: FailedUpdate,
  rollback: {
    error: unknown;
    endpoint: EndpointRecord | undefined;
    target: Inputs;
    keys: string[];
    failedVersion: string;
  },
  context: Context,
): ResourceInitError {
  const { error, endpoint, target, keys, failedVersion } = rollback;
  const { container, before } = previous;
  const { name } = update.news;
  const cause = toUserError(error, {
    label: `ServerlessEndpoint "${name}"`,
    verb: "update",
    names: context.settings.names,
  });
  const currentState = endpoint
    ? `The endpoint runs template "${endpoint.templateId ?? "?"}", unverified.`
    : `The endpoint could not be read; the update set ${formatSettings(toProperties(update.news), keys, context)}.`;
  const commands = [target.templateId].flatMap((templateId) => {
    if (!keys.includes("templateId") || container || templateId === undefined) return [];
    const { url, body } = context.clients.management.templateChange(id, templateId);
    return [
      `  curl -X PATCH ${url} -H "Authorization: Bearer $SERVERLESS_COMPUTE_API_KEY" ` +
        `-H "Content-Type: application/json" -d '${JSON.stringify(body)}'`,
    ];
  });
  const shownKeys = keys.filter((key) => !(container && key === "templateId"));
  const image = container && mayShowImages(context) ? [`image "${container.imageName}"`] : [];
  const settings = [...image, ...(shownKeys.length > 0 ? [formatSettings(before, shownKeys, context)] : [])];
  return fail(
    "rollbackFailed",
    [
      `${failedVersion} failed its verification, and the rollback failed: ${cause instanceof Error ? cause.message : String(cause)}`,
      reason,
      currentState,
      `To roll back endpoint "${name}" (${id}) manually, set ${settings.join(", ")}:`,
      ...commands,
      'The next "pulumi up" verifies the settings of the program, and rolls the endpoint back if that fails.',
    ].join("\n"),
    outputs,
  );
}
