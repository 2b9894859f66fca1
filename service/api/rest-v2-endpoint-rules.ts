import { v2EndpointCreate, v2EndpointPatch } from "serverless-compute-api/shapes";
import type { z } from "zod";
import { notFound, ServiceError } from "../errors";
import type { Resources } from "../resources";
import type { EndpointRow } from "../resources/endpoint-table";
import type { TemplateRow } from "../resources/template-table";
import { parseInput } from "../validation";

/** Rules of REST v2 over several fields of an endpoint's body, with the status that the hosted service has for each. */

type Create = z.output<typeof v2EndpointCreate>;
type Patch = z.output<typeof v2EndpointPatch>;

const unprocessable = (fault: string): ServiceError => new ServiceError("unprocessable", fault, {}, [fault]);

/** Only queues can scale by queue delay, and only those that do have an idle timeout of their own. */
function checkScaling(isQueue: boolean, scaling: string, { workers }: Patch): void {
  if (!isQueue && scaling !== "REQUEST_COUNT")
    throw unprocessable("scaling.type: must be REQUEST_COUNT for a load balancing endpoint");
  if (isQueue && scaling === "REQUEST_COUNT" && workers?.idleTimeout !== undefined)
    throw unprocessable(
      "workers.idleTimeout: idleTimeout does not apply to queue-based endpoints scaling on requestCount",
    );
}

/** The body of POST /serverless. */
export function readEndpointCreate(sent: unknown): Create {
  const body = parseInput(v2EndpointCreate, sent, "unprocessable");
  if (body.templateId === undefined && body.image === undefined)
    throw unprocessable("image: is required where there is no templateId");
  checkScaling(body.type === "QUEUE", body.scaling.type, body);
  return body;
}

/** The body of PATCH /serverless/{id}. */
export function readEndpointPatch(sent: unknown, { type, scalerType }: EndpointRow): Patch {
  const body = parseInput(v2EndpointPatch, sent, "unprocessable");
  if (body.gpu?.excludedTypes && !body.gpu.pools) throw unprocessable("gpu.excludedTypes: must come with gpu.pools");
  // An endpoint of another API may have a combination that REST v2 refuses; it is checked once it changes.
  if (body.scaling || body.workers?.idleTimeout !== undefined)
    checkScaling(type === "QB", body.scaling?.type ?? scalerType, body);
  return body;
}

/** The template whose settings an endpoint copies; 404 where there is none, 422 where it is not for serverless endpoints. */
export function copiedTemplate(templates: Resources["templates"], id: string): TemplateRow {
  const template = templates.find(id);
  if (!template) throw notFound("template", id);
  if (!template.isServerless) throw unprocessable(`templateId: template "${id}" is not a serverless template`);
  return template;
}
