import type { CallOptions, EndpointRecord } from "serverless-compute-api";
import type { Context } from "../../framework/contract";
import { createListCache } from "../../framework/lists";

/** The endpoints of the account, whose list all reads and deletes of a deployment share. */
export const endpointReader = createListCache(({ listEndpoints, readEndpoint }) => ({
  list: listEndpoints,
  read: readEndpoint,
}));

/**
 * Returns true if an endpoint uses a template: in REST v1, one that is bound to it, and in REST v2, which shows no bindings, one with a
 * marked copy of its settings.
 */
export const uses = (templateId: string) => (endpoint: EndpointRecord) => endpoint.templateId === templateId;

/** Requests the endpoints that use a template. */
export const endpointsOf = async (templateId: string, { clients }: Pick<Context, "clients">, options: CallOptions) =>
  (await clients.management.listEndpoints(options)).filter(uses(templateId));
