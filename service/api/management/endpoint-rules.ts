import { v2EndpointCreate, v2EndpointPatch } from "serverless-compute-api/shapes";
import type { z } from "zod";
import { type Issue, notFound, ServiceError } from "../../errors";
import type { Resources } from "../../resources";
import type { EndpointRow } from "../../resources/endpoint-table";
import type { TemplateRow } from "../../resources/template-table";
import { parseV2 } from "../../validation";

/** Rules of REST v2 that involve several fields of an endpoint's body, with the hosted service's statuses. */

type Create = z.output<typeof v2EndpointCreate>;
type Patch = z.output<typeof v2EndpointPatch>;

const unprocessable = (property: string, text: Issue["text"]): ServiceError =>
  new ServiceError("unprocessable", [{ path: [property], text }]);

/** Only queues can scale by queue delay, and only such queues have an idle timeout. */
function checkScaling(isQueue: boolean, scaling: string, { workers }: Patch): void {
  if (!isQueue && scaling !== "REQUEST_COUNT")
    throw unprocessable("scaling.type", "must be REQUEST_COUNT for a load balancing endpoint");
  if (isQueue && scaling === "REQUEST_COUNT" && workers?.idleTimeout !== undefined)
    throw unprocessable(
      "workers.idleTimeout",
      "idleTimeout does not apply to queue-based endpoints scaling on requestCount",
    );
}

/** Reads the body of POST /serverless. */
export function readEndpointCreate(input: unknown): Create {
  const body = parseV2(v2EndpointCreate, input);
  if (body.templateId === undefined && body.image === undefined)
    throw unprocessable("image", (nameOf) => `is required without ${nameOf("templateId")}`);
  checkScaling(body.type === "QUEUE", body.scaling.type, body);
  return body;
}

/** Reads the body of PATCH /serverless/{id}. */
export function readEndpointPatch(input: unknown, { type, scalerType }: EndpointRow): Patch {
  const body = parseV2(v2EndpointPatch, input);
  if (body.gpu?.excludedTypes && !body.gpu.pools) throw unprocessable("gpu.excludedTypes", "requires gpu.pools");
  // Another API may have set a combination that REST v2 rejects; it is checked only when it changes.
  if (body.scaling || body.workers?.idleTimeout !== undefined)
    checkScaling(type === "QB", body.scaling?.type ?? scalerType, body);
  return body;
}

/** The template to copy into an endpoint. Returns 404 if it does not exist, 422 if it is not serverless. */
export function copiedTemplate(templates: Resources["templates"], id: string): TemplateRow {
  const template = templates.find(id);
  if (!template) throw notFound("template", id);
  if (!template.isServerless) throw unprocessable("templateId", `template "${id}" is not a serverless template`);
  return template;
}
