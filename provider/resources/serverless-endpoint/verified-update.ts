import { type EndpointWorkers, isApiError } from "serverless-compute-api";
import { callOptions } from "../../lifecycle/calls";
import { type Context, PartialFailure } from "../../lifecycle/contract";
import type { Created, Update } from "../../lifecycle/create/creation";
import { withExplanation } from "../../lifecycle/messages";
import { waitForPollTurn } from "../../lifecycle/poll-rate-limit";
import { toProperties } from "../../lifecycle/properties/values";
import type { Inputs, Outputs } from "./inputs";
import { type Apply, rollBack } from "./rollback";
import { inputsIn, oldSettings, triggersChanged, unverifiedIn, unverifiedKey } from "./unverified";
import { verifyEndpoint } from "./verification";

/** Returns the user-facing message of a failure. */
const messageOf = (error: unknown, { name }: Inputs, { settings }: Context): string => {
  const explained = withExplanation(error, {
    label: `ServerlessEndpoint "${name}"`,
    verb: "update",
    names: settings.names,
  });
  return explained instanceof Error ? explained.message : String(explained);
};

/** Verifies a new or adopted endpoint. If the verification fails, the endpoint stays in the state as unverified. */
export async function verifyCreated(
  { id, outputs }: Created<Outputs>,
  inputs: Inputs,
  context: Context,
): Promise<void> {
  const { verify, workersMax } = inputs;
  if (!verify) return;
  try {
    await verifyEndpoint(id, { verify, workersMax }, undefined, context);
  } catch (error) {
    const problem = context.signal.aborted ? "but its verification was interrupted" : "but it failed its verification";
    const advice = 'The next "pulumi up" verifies it again; "pulumi destroy" deletes it.';
    const message = `endpoint "${inputs.name}" (${id}) was created, ${problem}\n${messageOf(error, inputs, context)}\n${advice}`;
    throw new PartialFailure(message, id, { ...toProperties(outputs), [unverifiedKey]: {} });
  }
}

/**
 * Updates an endpoint. If its workers' content changes, the update succeeds once a worker of the new version has completed the
 * job of `verify`; otherwise the update is rolled back.
 */
export async function updateVerified(
  id: string,
  requested: Update<Inputs>,
  context: Context,
  apply: Apply,
): Promise<Outputs> {
  const { news } = requested;
  const { verify, workersMax } = news;
  const olds = toProperties(requested.olds);
  const pending = unverifiedIn(olds);
  if (!verify || !(requested.changed("templateId") || pending || triggersChanged(olds, verify)))
    return apply(id, requested, context);
  // The service may have applied any part of an unverified update, so all of its settings are sent again.
  const changed = (key: string): boolean => requested.changed(key) || Object.hasOwn(pending?.before ?? {}, key);
  const update = { ...requested, changed };
  const neverVerified = pending !== undefined && pending.before === undefined;
  const before = { ...oldSettings(olds, changed, context.secrets), ...pending?.before };
  const unverified = { [unverifiedKey]: neverVerified ? {} : { before } };
  const workers = changed("templateId") ? await readOldWorkers(id, context) : undefined;
  const outputs = await apply(id, update, context).catch((error: unknown) => {
    // After a retryable failure, an attempt may still have been applied.
    if (!context.signal.aborted && !(isApiError(error) && error.retryable)) throw error;
    const message =
      `endpoint "${news.name}" (${id}) may or may not have been updated\n${messageOf(error, news, context)}\n` +
      'The next "pulumi up" sends the settings again and verifies the endpoint.';
    throw new PartialFailure(message, id, { ...olds, ...unverified }, { inputs: inputsIn(olds) });
  });
  // If the version is unchanged, an interrupted deployment has already applied the change.
  const isSameVersion = context.clients.dialect === "v1" && workers?.version === outputs.version;
  // A rollback restores only a verified version.
  const previousVersion = isSameVersion || pending ? undefined : workers?.version;
  try {
    const rollout = await verifyEndpoint(id, { verify, workersMax }, isSameVersion ? undefined : workers, context);
    return { ...outputs, version: rollout.version() ?? outputs.version };
  } catch (error) {
    const reason = messageOf(error, news, context);
    const unverifiedState = { ...toProperties(outputs), ...unverified };
    if (context.signal.aborted)
      throw new PartialFailure(
        `endpoint "${news.name}" (${id}) was updated, but its verification was interrupted\n${reason}\n` +
          `The next "pulumi up" verifies it${neverVerified ? "" : ", and rolls it back if that fails"}.`,
        id,
        unverifiedState,
      );
    if (neverVerified)
      throw new PartialFailure(
        `endpoint "${news.name}" (${id}) failed its verification, and no earlier version passed one\n${reason}\n` +
          'The next "pulumi up" verifies it again.',
        id,
        unverifiedState,
      );
    throw await rollBack(
      { id, update, pending, outputs, unverifiedState, reason, verify, apply, previousVersion },
      context,
    );
  }
}

async function readOldWorkers(id: string, context: Context): Promise<EndpointWorkers> {
  await waitForPollTurn(context);
  return context.clients.management.readWorkers(id, callOptions(context));
}
