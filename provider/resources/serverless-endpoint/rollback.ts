import type { EndpointRecord, EndpointWorkers } from "serverless-compute-api";
import { showValue } from "serverless-compute-api/shapes";
import { callOptions, cleanupCallOptions } from "../../lifecycle/calls";
import { type Context, PartialFailure, type Properties } from "../../lifecycle/contract";
import type { Update } from "../../lifecycle/create/creation";
import { withExplanation } from "../../lifecycle/messages";
import { toProperties } from "../../lifecycle/properties/values";
import { deadlineOf } from "./deadline";
import { type Inputs, type Outputs, resolvedInputs, type Verify } from "./inputs";
import { followRollout } from "./rollout";
import { changedSettings, inputsIn, type Unverified, unverifiedKey } from "./unverified";

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
  from: number | undefined;
}

/**
 * Returns true if a message may contain images. A template with a secret image has a secret revision. An endpoint depends on the
 * revision through `verify.triggers`, or through `templateId` if the program derives the id from it.
 */
const mayShowImages = ({ secrets }: Context): boolean =>
  !secrets?.paths.some(
    ([first, second = "triggers"]) => first === "templateId" || (first === "verify" && second === "triggers"),
  );

/** Reads a template and returns its image and the endpoint's version for a message; `otherwise` if neither can be shown. */
async function versionText(
  templateId: string,
  version: number | undefined,
  otherwise: string,
  context: Context,
): Promise<string> {
  const number = version === undefined ? undefined : `version ${version}`;
  if (!mayShowImages(context)) return number ?? otherwise;
  const read = context.clients.management.readTemplate(templateId, cleanupCallOptions(context));
  const found = await read.catch(() => undefined);
  if (!found?.imageName) return number ?? otherwise;
  return number === undefined ? found.imageName : `${found.imageName} (${number})`;
}

const settingsText = (settings: object, keys: readonly string[]): string =>
  keys.map((key) => `${key} ${showValue(new Map(Object.entries(settings)).get(key) ?? null)}`).join(", ");

/**
 * Rolls back an update and waits for workers of the previous version. Returns the failure of the update, with its reason and the
 * endpoint's current version.
 */
export async function rollBack(failed: FailedUpdate, context: Context): Promise<PartialFailure> {
  const { id, update, pending, outputs, reason, verify, apply, from } = failed;
  const { news, changed } = update;
  const olds = toProperties(update.olds);
  const back = inputsIn(olds, pending?.before);
  const keys = [...new Set([...changedSettings(changed), ...Object.keys(pending?.before ?? {})])];
  const workers = await context.clients.management.readWorkers(id, callOptions(context)).catch(() => undefined);
  const now = await versionText(news.templateId, workers?.version, "the new version", context);
  if (keys.length === 0)
    return new PartialFailure(
      `${now} failed its verification and keeps running, because the template changed in place\n${reason}\n` +
        "Revert or correct the template. With replaceOnChange of the Template, the endpoint is rolled back automatically.",
      id,
      { ...toProperties(outputs), ...versionOf(workers), [unverifiedKey]: { before: {} } },
      { inputs: back },
    );
  context.progress(`${now} failed its verification: rolling back ${keys.join(", ")}`);
  const goal = resolvedInputs.parse(back);
  const reverse = { olds: { ...news, ...outputs }, news: goal, changed: (key: string) => keys.includes(key) };
  let result = outputs;
  try {
    result = await apply(id, reverse, context);
  } catch (error) {
    const found = await context.clients.management.readEndpoint(id, cleanupCallOptions(context)).catch(() => undefined);
    // The rollback may have succeeded although its response was lost.
    if (found?.templateId !== goal.templateId || !keys.includes("templateId"))
      return stuck(failed, { error, found, goal, keys, now }, context);
  }
  const rollout = followRollout(id, workers, deadlineOf(verify, context), context);
  const isUp = await rollout.untilSettled(goal.workersMin).catch(() => false);
  const newVersion = rollout.version();
  const as = newVersion === undefined || newVersion === from ? "" : ` (as version ${newVersion})`;
  const serving = await versionText(goal.templateId, from, "the previous version", context);
  const next = 'The next "pulumi up" retries the change.';
  return new PartialFailure(
    `${now} failed its verification; ${serving} keeps serving${as}, with ${settingsText(back, keys)}\n` +
      `${reason}\n${isUp ? `${rollout.text()}. ${next}` : `Its workers are not up yet (${rollout.text()}): check the endpoint. ${next}`}`,
    id,
    { ...toProperties(result), ...(newVersion === undefined ? {} : { version: newVersion }) },
    { inputs: back },
  );
}

const versionOf = (workers: EndpointWorkers | undefined): Properties =>
  workers?.version === undefined ? {} : { version: workers.version };

/** Returns the failure of an update whose rollback also failed, with the endpoint's current template and the manual rollback. */
function stuck(
  { id, update, unverifiedState, reason }: FailedUpdate,
  rollback: { error: unknown; found: EndpointRecord | undefined; goal: Inputs; keys: string[]; now: string },
  { clients }: Context,
): PartialFailure {
  const { error, found, goal, keys, now } = rollback;
  const { name } = update.news;
  const why = withExplanation(error, { label: `ServerlessEndpoint "${name}"`, verb: "update" });
  const runs = found
    ? `The endpoint runs template "${found.templateId ?? "?"}", unverified.`
    : `The endpoint could not be read; the update set ${settingsText(update.news, keys)}.`;
  const { url, body } = clients.management.templateChange(id, goal.templateId);
  const command =
    `curl -X PATCH ${url} -H "Authorization: Bearer $SERVERLESS_COMPUTE_API_KEY" ` +
    `-H "Content-Type: application/json" -d '${JSON.stringify(body)}'`;
  return new PartialFailure(
    [
      `${now} failed its verification, and the rollback failed: ${why instanceof Error ? why.message : String(why)}`,
      reason,
      runs,
      `To roll back endpoint "${name}" (${id}) manually, set ${settingsText(goal, keys)}:`,
      ...(keys.includes("templateId") ? [`  ${command}`] : []),
      'The next "pulumi up" verifies the settings of the program, and rolls the endpoint back if that fails.',
    ].join("\n"),
    id,
    unverifiedState,
  );
}
