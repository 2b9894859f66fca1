import { type EndpointWorkers, isApiError } from "serverless-compute-api";
import { callOptions } from "../../lifecycle/calls";
import { type Context, PartialFailure } from "../../lifecycle/contract";
import type { Update } from "../../lifecycle/create/creation";
import { explained } from "../../lifecycle/messages";
import { pollTurn } from "../../lifecycle/poll-turns";
import { toProperties } from "../../lifecycle/properties/values";
import { type Apply, goBack } from "./going-back";
import type { Inputs, Outputs } from "./inputs";
import { inputsIn, settingsBefore, triggersChanged, unverifiedIn, unverifiedKey } from "./unverified";
import { verifyEndpoint } from "./verification";

/** Returns the message of a failure for users. */
const saidBy = (error: unknown, { name }: Inputs): string => {
  const shown = explained(error, { label: `ServerlessEndpoint "${name}"`, verb: "update" });
  return shown instanceof Error ? shown.message : String(shown);
};

/** Verifies an endpoint that was just created or adopted. If it fails, it stays in the state as unverified. */
export async function verifyCreated(
  { id, outputs }: { id: string; outputs: Outputs },
  inputs: Inputs,
  context: Context,
): Promise<void> {
  const { verify, workersMax } = inputs;
  if (!verify) return;
  try {
    await verifyEndpoint(id, { verify, workersMax }, undefined, context);
  } catch (error) {
    const what = context.signal.aborted ? "but its verification was cut short" : "but it failed its verification";
    const next = 'The next "pulumi up" verifies it again; "pulumi destroy" deletes it.';
    const message = `endpoint "${inputs.name}" (${id}) was made, ${what}\n${saidBy(error, inputs)}\n${next}`;
    throw new PartialFailure(message, id, { ...toProperties(outputs), [unverifiedKey]: {} });
  }
}

/**
 * Updates an endpoint. Where that changes what its workers run, the update succeeds only once a worker of the new
 * version has done the job of `verify`; otherwise what was changed is set back.
 */
export async function updateVerified(
  id: string,
  asked: Update<Inputs>,
  context: Context,
  apply: Apply,
): Promise<Outputs> {
  const { news } = asked;
  const { verify, workersMax } = news;
  const olds = toProperties(asked.olds);
  const pending = unverifiedIn(olds);
  if (!verify || !(asked.changed("templateId") || pending || triggersChanged(olds, verify)))
    return apply(id, asked, context);
  // It is unknown which settings of an unverified update arrived, so all of them are sent again.
  const changed = (key: string): boolean => asked.changed(key) || Object.hasOwn(pending?.before ?? {}, key);
  const update = { ...asked, changed };
  const never = pending !== undefined && pending.before === undefined;
  const before = { ...settingsBefore(olds, changed, context.secrets), ...pending?.before };
  const unverified = { [unverifiedKey]: never ? {} : { before } };
  const workers = changed("templateId") ? await workersBefore(id, context) : undefined;
  const outputs = await apply(id, update, context).catch((error: unknown) => {
    // What may be tried again had no answer that counts: one of the tries may have arrived.
    if (!context.signal.aborted && !(isApiError(error) && error.retryable)) throw error;
    const message =
      `endpoint "${news.name}" (${id}) may or may not have been updated\n${saidBy(error, news)}\n` +
      'The next "pulumi up" sends what the program says then, and verifies it.';
    throw new PartialFailure(message, id, { ...olds, ...unverified }, { inputs: inputsIn(olds) });
  });
  // Where the service counted no change there is none: an interrupted deployment had made it.
  const isSame = context.clients.dialect === "v1" && workers?.version === outputs.version;
  // An unverified version is none to go back to.
  const from = isSame || pending ? undefined : workers?.version;
  try {
    const rollout = await verifyEndpoint(id, { verify, workersMax }, isSame ? undefined : workers, context);
    return { ...outputs, version: rollout.version() ?? outputs.version };
  } catch (error) {
    const said = saidBy(error, news);
    const left = { ...toProperties(outputs), ...unverified };
    if (context.signal.aborted)
      throw new PartialFailure(
        `endpoint "${news.name}" (${id}) was updated, but its verification was cut short\n${said}\n` +
          `The next "pulumi up" verifies it${never ? "" : ", and sets it back if that fails"}.`,
        id,
        left,
      );
    if (never)
      throw new PartialFailure(
        `endpoint "${news.name}" (${id}) failed its verification, and it has no earlier version that did not\n${said}\n` +
          'The next "pulumi up" verifies it again.',
        id,
        left,
      );
    throw await goBack({ id, update, pending, outputs, left, said, verify, apply, from }, context);
  }
}

async function workersBefore(id: string, context: Context): Promise<EndpointWorkers> {
  await pollTurn(context);
  return context.clients.management.readWorkers(id, callOptions(context));
}
