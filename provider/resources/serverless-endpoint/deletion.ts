import { isApiError } from "serverless-compute-api";
import { callOptions, completeDespiteCancel } from "../../framework/calls";
import type { Context } from "../../framework/contract";
import { findTemplateBySettings } from "../template/definition";
import { endpointReader } from "../template/endpoints";

/** Maximum attempts of a delete while workers remain, and the interval between them (ms). */
const maxAttempts = 20;
const deleteInterval = 500;

/**
 * Deletes an endpoint; succeeds if it no longer exists. If the service rejects the delete because the endpoint has workers, it is
 * first scaled to 0/0.
 */
export async function deleteEndpoint(
  id: string,
  context: Context,
  deleteIfPresent: () => Promise<void>,
): Promise<void> {
  const { management } = context.clients;
  await detachTemplate(id, context);
  let isScaledDown = false;
  for (let attempt = 1; ; attempt++) {
    try {
      return await deleteIfPresent();
    } catch (error) {
      if (!isApiError(error, "inUse") || error.code !== "endpoint_has_workers" || attempt === maxAttempts) throw error;
    }
    context.progress("scaling its workers to zero before the delete");
    if (isScaledDown) await context.clock.sleep(deleteInterval, context.signal);
    else await ignoreMissing(management.updateEndpoint(id, { workersMin: 0, workersMax: 0 }, callOptions(context)));
    isScaledDown = true;
  }
}

/**
 * Replaces an endpoint's bound template by a copy of its settings. REST v2 deletes the bound template together with the endpoint,
 * although other endpoints created by REST v1 may use it. Endpoints that this provider created with REST v2 already have a copy.
 */
async function detachTemplate(id: string, context: Context): Promise<void> {
  const { dialect, management } = context.clients;
  if (dialect !== "v2") return;
  const endpoint = await endpointReader(context).get(id, context);
  const { container } = endpoint ?? {};
  if (!container || endpoint?.templateId !== undefined) return;
  const boundTemplate = await findTemplateBySettings(container, context);
  if (!boundTemplate) return;
  context.progress(`copying the settings of template "${boundTemplate.name}", which REST v2 would delete with it`);
  await ignoreMissing(
    completeDespiteCancel(context, (options) =>
      management.updateEndpoint(id, { templateId: boundTemplate.id }, options),
    ),
  );
}

/** Waits for a change of an endpoint; succeeds if the endpoint no longer exists. */
async function ignoreMissing(update: Promise<unknown>): Promise<void> {
  try {
    await update;
  } catch (error) {
    if (!isApiError(error, "missing")) throw error;
  }
}
