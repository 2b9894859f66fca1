import type { EndpointRecord, EndpointWorkers } from "serverless-compute-api";
import { showValue } from "serverless-compute-api/shapes";
import { callOptions, cleanupCallOptions } from "../../lifecycle/calls";
import { type Context, PartialFailure, type Properties } from "../../lifecycle/contract";
import type { Update } from "../../lifecycle/create/creation";
import { withExplanation } from "../../lifecycle/messages";
import { toProperties } from "../../lifecycle/properties/values";
import { deadlineOf } from "./deadline";
import { checkedInputs, type Inputs, type Outputs, type Verify } from "./inputs";
import { followRollout } from "./rollout";
import { changedSettingNames, inputsIn, type Unverified, unverifiedKey } from "./unverified";

/** Applies an update without a verification. */
export type Apply = (id: string, update: Update<Inputs>, context: Context) => Promise<Outputs>;

/** Update with a failed verification. */
interface FailedUpdate {
  id: string;
  update: Update<Inputs>;
  /** Unverified properties in the state before the update. */
  pending: Unverified | undefined;
  /** Outputs of the update. */
  outputs: Outputs;
  /** State of the resource if the rollback fails. */
  unverifiedState: Properties;
  /** Reason of the failed verification. */
  reason: string;
  verify: Verify;
  apply: Apply;
  /** Version before the update, if it is known and verified. */
  previousVersion: number | undefined;
}

/**
 * Returns true if a message may contain images. A template with a secret image has a secret revision. An endpoint depends on the
 * revision through `verify.triggers`, or through `templateId` if the program derives the id from it.
 */
const mayShowImages = ({ secrets }: Context): boolean =>
  !secrets?.paths.some(
    ([first, second = "triggers"]) => first === "templateId" || (first === "verify" && second === "triggers"),
  );

/** Reads a template and returns its image and the endpoint's version for a message; `fallback` if neither can be shown. */
async function describeVersion(
  templateId: string,
  version: number | undefined,
  fallback: string,
  context: Context,
): Promise<string> {
  const versionLabel = version === undefined ? undefined : `version ${version}`;
  if (!mayShowImages(context)) return versionLabel ?? fallback;
  const read = context.clients.management.readTemplate(templateId, cleanupCallOptions(context));
  const template = await read.catch(() => undefined);
  if (!template?.imageName) return versionLabel ?? fallback;
  return versionLabel === undefined ? template.imageName : `${template.imageName} (${versionLabel})`;
}

const formatSettings = (settings: Readonly<Record<string, unknown>>, keys: readonly string[]): string =>
  keys.map((key) => `${key} ${showValue(settings[key] ?? null)}`).join(", ");

/**
 * Rolls back an update and waits for workers of the previous version. Returns the failure of the update, with its reason and the
 * endpoint's current version.
 */
export async function rollBack(failed: FailedUpdate, context: Context): Promise<PartialFailure> {
  const { id, update, pending, outputs, reason, verify, apply, previousVersion } = failed;
  const { news, changed } = update;
  const olds = toProperties(update.olds);
  const restoredInputs = inputsIn(olds, pending?.before);
  const keys = [...new Set([...changedSettingNames(changed), ...Object.keys(pending?.before ?? {})])];
  const workers = await context.clients.management.readWorkers(id, callOptions(context)).catch(() => undefined);
  const failedVersion = await describeVersion(news.templateId, workers?.version, "the new version", context);
  if (keys.length === 0)
    return new PartialFailure(
      `${failedVersion} failed its verification and keeps running, because the template changed in place\n${reason}\n` +
        "Revert or correct the template. With replaceOnChange of the Template, the endpoint is rolled back automatically.",
      id,
      { ...toProperties(outputs), ...versionOf(workers), [unverifiedKey]: { before: {} } },
      { inputs: restoredInputs },
    );
  context.progress(`${failedVersion} failed its verification: rolling back ${keys.join(", ")}`);
  const targetInputs = checkedInputs.parse(restoredInputs);
  const rollbackUpdate = {
    olds: { ...news, ...outputs },
    news: targetInputs,
    changed: (key: string) => keys.includes(key),
  };
  let result = outputs;
  try {
    result = await apply(id, rollbackUpdate, context);
  } catch (error) {
    const endpoint = await context.clients.management
      .readEndpoint(id, cleanupCallOptions(context))
      .catch(() => undefined);
    // The rollback may have succeeded although its response was lost.
    if (endpoint?.templateId !== targetInputs.templateId || !keys.includes("templateId"))
      return rollbackFailure(failed, { error, endpoint, targetInputs, keys, failedVersion }, context);
  }
  const rollout = followRollout(id, workers, deadlineOf(verify, context), context);
  const isUp = await rollout.waitUntilSettled(targetInputs.workersMin).catch(() => false);
  const newVersion = rollout.version();
  const newVersionText =
    newVersion === undefined || newVersion === previousVersion ? "" : ` (as version ${newVersion})`;
  const servingVersion = await describeVersion(
    targetInputs.templateId,
    previousVersion,
    "the previous version",
    context,
  );
  const advice = 'The next "pulumi up" retries the change.';
  return new PartialFailure(
    `${failedVersion} failed its verification; ${servingVersion} keeps serving${newVersionText}, with ${formatSettings(restoredInputs, keys)}\n` +
      `${reason}\n${isUp ? `${rollout.text()}. ${advice}` : `Its workers are not up yet (${rollout.text()}): check the endpoint. ${advice}`}`,
    id,
    { ...toProperties(result), ...(newVersion === undefined ? {} : { version: newVersion }) },
    { inputs: restoredInputs },
  );
}

const versionOf = (workers: EndpointWorkers | undefined): Properties =>
  workers?.version === undefined ? {} : { version: workers.version };

/** Returns the failure of an update whose rollback also failed, with the endpoint's current template and the manual rollback. */
function rollbackFailure(
  { id, update, unverifiedState, reason }: FailedUpdate,
  rollback: {
    error: unknown;
    endpoint: EndpointRecord | undefined;
    targetInputs: Inputs;
    keys: string[];
    failedVersion: string;
  },
  { clients, settings }: Context,
): PartialFailure {
  const { error, endpoint, targetInputs, keys, failedVersion } = rollback;
  const { name } = update.news;
  const cause = withExplanation(error, {
    label: `ServerlessEndpoint "${name}"`,
    verb: "update",
    names: settings.names,
  });
  const currentState = endpoint
    ? `The endpoint runs template "${endpoint.templateId ?? "?"}", unverified.`
    : `The endpoint could not be read; the update set ${formatSettings(update.news, keys)}.`;
  const { url, body } = clients.management.templateChange(id, targetInputs.templateId);
  const command =
    `curl -X PATCH ${url} -H "Authorization: Bearer $SERVERLESS_COMPUTE_API_KEY" ` +
    `-H "Content-Type: application/json" -d '${JSON.stringify(body)}'`;
  return new PartialFailure(
    [
      `${failedVersion} failed its verification, and the rollback failed: ${cause instanceof Error ? cause.message : String(cause)}`,
      reason,
      currentState,
      `To roll back endpoint "${name}" (${id}) manually, set ${formatSettings(targetInputs, keys)}:`,
      ...(keys.includes("templateId") ? [`  ${command}`] : []),
      'The next "pulumi up" verifies the settings of the program, and rolls the endpoint back if that fails.',
    ].join("\n"),
    id,
    unverifiedState,
  );
}
