import { isDeepStrictEqual } from "node:util";
import type { Database } from "../store/database";
import { type Container, containerOf } from "./container";
import type { EndpointRow, EndpointValues } from "./endpoint-table";
import type { Endpoints } from "./endpoints";
import type { TemplateRow } from "./template-table";
import type { Templates } from "./templates";

/**
 * Endpoints created by REST v2. Each has its own container, a template bound to one endpoint. A template named by a request is copied
 * once; later changes to it do not affect the endpoint.
 */
export function createEndpointContainers(deps: { database: Database; endpoints: Endpoints; templates: Templates }) {
  const { database, endpoints, templates } = deps;

  /** The template's settings, overridden by the request's; variables are merged. */
  const copyOf = (template: TemplateRow, container: Container): Container => {
    const templateContainer = containerOf(template);
    return { ...templateContainer, ...container, env: { ...templateContainer.env, ...container.env } };
  };

  return {
    create: (values: EndpointValues, container: Container, source: TemplateRow | undefined): EndpointRow =>
      database.transaction(() => {
        const id = endpoints.newId();
        const complete = source ? copyOf(source, container) : container;
        const template = templates.createBound({ id, name: String(values.name) }, complete);
        return endpoints.create({ ...values, templateId: template.id }, id);
      }),

    /** Updates an endpoint: undefined keeps a value, null clears it. The first change to a user's template creates a bound copy. */
    update: (
      id: string,
      changes: EndpointValues,
      container: Container,
      newTemplate: TemplateRow | undefined,
    ): EndpointRow =>
      database.transaction(() => {
        const endpoint = endpoints.get(id);
        const template = templates.get(endpoint.templateId);
        const current = { ...containerOf(template), env: { ...template.env, ...endpoint.env } };
        const next = newTemplate ? copyOf(newTemplate, container) : { ...current, ...container };
        if (isDeepStrictEqual(next, current)) return endpoints.update(id, changes);
        if (template.boundEndpointId === id) {
          // Undefined would keep the previous credentials.
          templates.update(template.id, { ...next, containerRegistryAuthId: next.containerRegistryAuthId ?? null });
          return endpoints.update(id, { ...changes, env: {} });
        }
        return endpoints.update(id, { ...changes, env: {}, templateId: templates.createBound(endpoint, next).id });
      }),
  };
}
