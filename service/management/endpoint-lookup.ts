import { notFound } from "../errors";
import type { EndpointRow, EndpointStore } from "../store/endpoints";
import type { SecretStore } from "../store/secrets";
import type { TemplateStore } from "../store/templates";
import type { ManagementEvents } from "./events";
import { type WorkerEnvironment, workerEnvironment } from "./worker-environment";

export type { WorkerEnvironment } from "./worker-environment";

/** What the job path reads of the management API. `get` is cheap: it answers from memory. */
export interface EndpointLookup {
  /** The endpoint, or undefined when it is unknown or deleted. */
  get(id: string): EndpointRow | undefined;
  all(): EndpointRow[];
  /**
   * Read at each worker start, so that it has the secrets' values of that moment.
   * Throws a ServiceError whose text tells which reference has no secret.
   */
  workerEnvironment(id: string): WorkerEnvironment;
}

/** The look-up over the stores. Endpoints are read once and kept until an event says that they changed. */
export function createEndpointLookup(deps: {
  endpoints: EndpointStore;
  templates: TemplateStore;
  secrets: SecretStore;
  events: ManagementEvents;
}): EndpointLookup {
  const { endpoints, templates, secrets, events } = deps;
  const known = new Map<string, EndpointRow>();
  const forget = (id: string): void => void known.delete(id);
  // First in line, so that whoever hears of a change reads the new values.
  events.prependListener("endpointChanged", forget);
  events.prependListener("endpointDeleted", forget);

  const get = (id: string): EndpointRow | undefined => {
    const endpoint = known.get(id) ?? endpoints.get(id);
    if (endpoint) known.set(id, endpoint);
    return endpoint;
  };

  return {
    get,
    all: () => endpoints.all(),
    workerEnvironment: (id) => {
      const endpoint = get(id);
      const template = endpoint && templates.get(endpoint.templateId);
      if (!template) throw notFound("endpoint", id);
      return workerEnvironment(endpoint, template, secrets);
    },
  };
}
