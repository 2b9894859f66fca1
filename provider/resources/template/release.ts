import { type EndpointRecord, isApiError, type TemplateRecord } from "serverless-compute-api";
import { callOptions, tidyingOptions } from "../../lifecycle/calls";
import type { Context } from "../../lifecycle/contract";
import { foundInList } from "../../lifecycle/deletion";

const second = 1000;

/**
 * Milliseconds to the next try when the wait has lasted `elapsed`. The service documents up to 2 minutes after the last
 * use (interface: Limits): often at first, for a quick release must not be missed, seldom in between, often again when
 * it is due. Each try is two requests, and two minutes of waiting are not to be more than 60.
 */
export const pollInterval = (elapsed: number): number =>
  elapsed < 8 * second || elapsed >= 112 * second ? second : Math.min(10 * second, 112 * second - elapsed);

/** Tries of a delete whose response gets lost; the wait before the second, ms, doubles with each. */
const lostTries = 6;
const lostWait = 250;

/**
 * Deletes a template. The service may delete by name (interface: deleteTemplate), and a name may belong to another template
 * by now: what counts is the id, whose present name is read before every try. While it is in use: an endpoint that is
 * bound to it is named at once, for the engine deletes its own endpoints first; with none bound, the release after the
 * last use is waited for. So it is with REST v2, which does not show what is bound.
 */
export async function releaseTemplate(id: string, context: Context): Promise<void> {
  const template = await unlessDeleted(id, context);
  if (template === undefined) return;
  const { name } = template;
  const started = context.clock.now();
  await refuseWhileBound(template, context);
  const limit = context.end === undefined ? context.settings.templateReleaseLimit : context.end - started;
  for (;;) {
    const elapsed = context.clock.now() - started;
    if (elapsed >= limit) throw new Error(await expired(template, limit, context));
    const tried = context.clock.now();
    if ((await unlessDeleted(id, context)) === undefined) {
      context.progress(`the service released template "${name}" after ${Math.round((tried - started) / second)} s`);
      return;
    }
    await waitVisibly(name, started, Math.min(tried + pollInterval(elapsed), started + limit), limit, context);
  }
}

/**
 * Tries the delete: undefined once the template is gone, its record while it is in use. After a lost response nothing is
 * sent again before it is clear that the name is still this template's.
 */
async function unlessDeleted(id: string, context: Context): Promise<TemplateRecord | undefined> {
  for (let tried = 1; ; tried++) {
    const template = await find(id, context);
    context.sighted?.(template !== undefined);
    if (template === undefined) return undefined;
    try {
      await context.clients.management.deleteTemplate(template, callOptions(context));
      return undefined;
    } catch (error) {
      if (isApiError(error, "inUse")) return template;
      const isUnsure = isApiError(error) && (error.ambiguous || error.category === "missing");
      if (!isUnsure || tried === lostTries) throw error;
      await context.clock.sleep(lostWait * 2 ** (tried - 1), context.signal);
    }
  }
}

async function find(id: string, context: Context): Promise<TemplateRecord | undefined> {
  const { management } = context.clients;
  const options = callOptions(context);
  return (await management.readTemplate(id, options)) ?? foundInList(id, management.listTemplates, options);
}

type Bound = Pick<EndpointRecord, "id" | "name">;

/** Looks twice before it blames anyone: a list may lag behind the delete of an endpoint. */
async function refuseWhileBound(template: TemplateRecord, context: Context): Promise<void> {
  const { dialect, management } = context.clients;
  if (dialect === "v2") return;
  if ((await management.listBound(template, callOptions(context))).length === 0) return;
  await context.clock.sleep(second, context.signal);
  const bound = await management.listBound(template, callOptions(context));
  if (bound.length === 0) return;
  throw new Error(
    `template "${template.name}" cannot be deleted: ${listed(bound)} still ${bound.length === 1 ? "uses" : "use"} it and ` +
      `is not deleted by this deployment. Delete it or assign another template to it, then try again. ` +
      "To replace a template, also change its name, so that the new one is created first.",
  );
}

const listed = (endpoints: Bound[]): string => endpoints.map(({ name, id }) => `endpoint "${name}" (${id})`).join(", ");

/** Sleeps until `end`, and reports every 5 s how long it has been. */
async function waitVisibly(name: string, started: number, end: number, limit: number, context: Context): Promise<void> {
  const { clock, progress, signal } = context;
  for (;;) {
    const now = clock.now();
    if (now >= end) return;
    const passed = Math.round((now - started) / second);
    if (passed % 5 === 0)
      progress(
        `waiting for the service to release template "${name}": ${passed} s of at most ${Math.round(limit / second)} s`,
      );
    await clock.sleep(Math.min(second, end - now), signal);
  }
}

async function expired(template: TemplateRecord, limit: number, context: Context): Promise<string> {
  const { dialect, management } = context.clients;
  const bound = await management.listBound(template, { ...callOptions(context), ...tidyingOptions(context) });
  const user =
    bound.length === 0
      ? "no endpoint uses it, but a pod may"
      : dialect === "v2"
        ? `REST v2 does not show which endpoints use it, perhaps ${listed(bound)} with the same settings`
        : `${listed(bound)} started to use it in the meantime`;
  const setting =
    context.end === undefined ? "serverless-compute:templateReleaseLimit (seconds)" : "customTimeouts.delete";
  return (
    `template "${template.name}" is still in use after ${Math.round(limit / second)} s: ${user}. It stays in the state: run the ` +
    `same command again later, or wait longer with ${setting}.`
  );
}
