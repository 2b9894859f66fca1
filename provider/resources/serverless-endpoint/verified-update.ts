import { type EndpointWorkers, isApiError } from "serverless-compute-api";
import { toProperties } from "../../engine/values";
import { callOptions } from "../../framework/calls";
import type { Context } from "../../framework/contract";
import type { Created, Update } from "../../framework/definition";
import { ResourceInitError } from "../../framework/errors";
import { toUserError } from "../../framework/messages";
import { acquirePoll } from "../../framework/poll-limiter";
import { containerKeys, type Inputs, type Outputs } from "./inputs";
import { readPreviousVersion } from "./previous-version";
import { type Apply, rollBack } from "./rollback";
import {
  type FailedResult,
  inputsIn,
  markAfter,
  neverVerified,
  recordedStates,
  triggersChanged,
  unverifiedIn,
} from "./unverified";
import { verifyEndpoint } from "./verification";

/** Returns the user-facing message of a failure. */
const messageOf = (error: unknown, { name }: Inputs, { settings }: Context): string => {
  const explained = toUserError(error, {
    label: `ServerlessEndpoint "${name}"`,
    operation: "update",
    names: settings.names,
  });
  return explained instanceof Error ? explained.message : String(explained);
};

/** Verifies a new endpoint. If the verification fails, the endpoint stays in the state as unverified. */
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
    const help = context.signal.aborted ? undefined : "verification";
    throw new ResourceInitError(message, id, { ...toProperties(outputs), ...neverVerified }, { help });
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
  const changesContainer = containerKeys.some(requested.changed);
  const changesInPlace = !changesContainer && triggersChanged(olds, toProperties(news));
  if (!verify || !(changesContainer || changesInPlace || pending)) return apply(id, requested, context);
  const previous = await readPreviousVersion(id, requested, context);
  previous.neverVerified ||= changesInPlace;
  // The service may have applied any part of an unverified update, so all of its settings are sent again.
  const changed = (key: string): boolean => requested.changed(key) || Object.hasOwn(previous.before, key);
  const update = { ...requested, changed };
  const fail = (result: FailedResult, message: string, outputs: object): ResourceInitError => {
    const { settings } = recordedStates[result];
    const inputs = settings === "new" ? undefined : inputsIn(olds, settings === "previous" ? previous.before : {});
    const state = { ...toProperties(outputs), ...markAfter(result, previous) };
    const hasFailed = result !== "unconfirmed" && result !== "interrupted";
    return new ResourceInitError(message, id, state, { inputs, help: hasFailed ? "verification" : undefined });
  };
  const workers = containerKeys.some(changed) ? await readOldWorkers(id, context) : undefined;
  const outputs = await apply(id, update, context).catch((error: unknown) => {
    // After a retryable failure, an attempt may still have been applied.
    if (!context.signal.aborted && !(isApiError(error) && error.retryable)) throw error;
    const message =
      `endpoint "${news.name}" (${id}) may or may not have been updated\n${messageOf(error, news, context)}\n` +
      'The next "pulumi up" sends the settings again and verifies the endpoint.';
    throw fail("unconfirmed", message, olds);
  });
  // If the version is unchanged, an interrupted deployment has already applied the change.
  const isSameVersion = context.clients.dialect === "v1" && workers?.version === outputs.version;
  try {
    const rollout = await verifyEndpoint(id, { verify, workersMax }, isSameVersion ? undefined : workers, context);
    return { ...outputs, version: rollout.version() ?? outputs.version };
  } catch (error) {
    const reason = messageOf(error, news, context);
    if (context.signal.aborted)
      throw fail(
        "interrupted",
        `endpoint "${news.name}" (${id}) was updated, but its verification was interrupted\n${reason}\n` +
          'The next "pulumi up" verifies it, and rolls it back if that fails.',
        outputs,
      );
    const previousVersion = previous.isServing ? workers?.version : undefined;
    throw await rollBack(
      { id, update, previous, outputs, reason, verify, apply, previousVersion, changesInPlace, fail },
      context,
    );
  }
}

async function readOldWorkers(id: string, context: Context): Promise<EndpointWorkers> {
  await acquirePoll(context);
  return context.clients.management.readWorkers(id, callOptions(context));
}
