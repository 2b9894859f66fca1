import { type EndpointRecord, isApiError, type TemplateRecord } from "serverless-compute-api";
import { limits } from "serverless-compute-api/shapes";
import { callOptions, cleanupCallOptions } from "../../framework/calls";
import type { Context } from "../../framework/contract";
import { UserError } from "../../framework/errors";
import { endpointReader, endpointsOf, uses } from "./endpoints";

const second = 1000;

/**
 * Interval until the next attempt (ms) after a wait of `elapsed` ms. The service documents a release within 2 minutes of the last
 * use (interface: Limits). Attempts are frequent at first, so that a quick release is detected, less frequent in between, and
 * frequent again when the release is due. With GraphQL, each attempt makes two requests, and a wait of two minutes makes at most 60.
 */
export const pollInterval = (elapsed: number): number =>
  elapsed < 8 * second || elapsed >= 112 * second ? second : Math.min(10 * second, 112 * second - elapsed);

/** Maximum attempts of a delete after lost responses, and the first delay between them (ms), which doubles with each attempt. */
const maxAttempts = 6;
const firstDelay = 250;

/**
 * Deletes a template. If an endpoint runs the template, the delete fails immediately, because the engine deletes its own endpoints first.
 * Otherwise the delete waits for the release after the last use.
 */
export async function releaseTemplate(
  id: string,
  context: Context,
  deleteIfPresent: () => Promise<void>,
): Promise<void> {
  // The service would delete a template whose copy an endpoint runs, and a later rollback would lack it.
  await rejectIfUsed(id, context);
  if (await tryDelete(deleteIfPresent, context)) return;
  // It may be gone by now.
  const { name } = (await context.clients.management.readTemplate(id, callOptions(context))) ?? { name: id };
  const startTime = context.clock.now();
  const timeLimit =
    context.deadline === undefined ? context.settings.templateReleaseLimit : context.deadline - startTime;
  for (;;) {
    const elapsed = context.clock.now() - startTime;
    if (elapsed >= timeLimit) throw await timeoutError({ id, name }, timeLimit, context);
    const attemptTime = context.clock.now();
    if (await tryDelete(deleteIfPresent, context)) {
      context.progress(
        `the service released template "${name}" after ${Math.round((attemptTime - startTime) / second)} s`,
      );
      return;
    }
    await sleepWithProgress(
      name,
      startTime,
      Math.min(attemptTime + pollInterval(elapsed), startTime + timeLimit),
      timeLimit,
      context,
    );
  }
}

/** Attempts the delete. Returns true if the template no longer exists, or false if it is in use. */
async function tryDelete(deleteIfPresent: () => Promise<void>, context: Context): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      await deleteIfPresent();
      return true;
    } catch (error) {
      if (isApiError(error, "inUse")) return false;
      // A delete by name is not retried by the client, and the name may have changed.
      const isInconclusive = isApiError(error) && (error.ambiguous || error.category === "missing");
      // The template existed, so the account is right although a later attempt does not find it.
      if (isApiError(error) && error.ambiguous) context.reportFound?.(true);
      if (!isInconclusive || attempt === maxAttempts) throw error;
      await context.clock.sleep(firstDelay * 2 ** (attempt - 1), context.signal);
    }
  }
}

/** Throws if an endpoint of a list runs the template. Lists twice, because a list may lag behind a change of an endpoint. */
async function rejectIfUsed(id: string, context: Context): Promise<void> {
  const { objects } = await endpointReader(context).list(context);
  if (!objects.some(uses(id))) return;
  await context.clock.sleep(second, context.signal);
  const users = await endpointsOf(id, context, callOptions(context));
  const template = users.length > 0 && (await context.clients.management.readTemplate(id, callOptions(context)));
  if (!template) return;
  throw new UserError(
    `template "${template.name}" cannot be deleted: ${formatEndpoints(users)} still ${users.length === 1 ? "uses it and is" : "use it and are"} ` +
      "not deleted by this deployment. Delete it or assign another template to it, then try again. " +
      "An endpoint keeps its template with deletedWith, with ignoreChanges of templateId, or if --target excludes it. To replace a template, remove its option deleteBeforeReplace, and change a name that the program sets; a pulumi:autonaming pattern requires a random part.",
    { help: "templateInUse" },
  );
}

const formatEndpoints = (endpoints: EndpointRecord[]): string =>
  endpoints.map(({ name, id }) => `endpoint "${name}" (${id})`).join(", ");

/** Sleeps until `wakeTime` and reports the elapsed time every 5 s. */
async function sleepWithProgress(
  name: string,
  startTime: number,
  wakeTime: number,
  timeLimit: number,
  context: Context,
): Promise<void> {
  const { clock, progress, signal } = context;
  for (;;) {
    const now = clock.now();
    if (now >= wakeTime) return;
    const elapsed = Math.round((now - startTime) / second);
    if (elapsed % 5 === 0)
      progress(
        `waiting for the service to release template "${name}": ${elapsed} s of at most ${Math.round(timeLimit / second)} s`,
      );
    await clock.sleep(Math.min(second, wakeTime - now), signal);
  }
}

async function timeoutError(
  template: Pick<TemplateRecord, "id" | "name">,
  timeLimit: number,
  context: Context,
): Promise<Error> {
  const { dialect } = context.clients;
  const users = await endpointsOf(template.id, context, { ...callOptions(context), ...cleanupCallOptions(context) });
  const usage =
    users.length > 0
      ? `${formatEndpoints(users)} started to use it in the meantime`
      : dialect === "v2"
        ? "no endpoint uses it, but a pod may, or an endpoint that was created with its id, which REST v2 does not show"
        : "no endpoint uses it, but a pod may";
  const release =
    users.length === 0 && timeLimit < limits.templateRelease
      ? `; the service releases a template up to ${limits.templateRelease / second} s after its last use`
      : "";
  const setting =
    context.deadline === undefined
      ? `${context.settings.names.templateReleaseLimit} (seconds)`
      : "customTimeouts.delete";
  return new UserError(
    `template "${template.name}" is still in use after ${Math.round(timeLimit / second)} s: ${usage}${release}. It stays in the state: run the ` +
      `same command again later, or wait longer with ${setting}.`,
    { help: users.length === 0 ? "templateNotReleased" : undefined },
  );
}
