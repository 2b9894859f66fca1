import { isDeepStrictEqual } from "node:util";
import type { Database } from "../store/database";
import type { EndpointRow, EndpointValues } from "./endpoint-table";
import type { Endpoints } from "./endpoints";
import type { TemplateChanges, TemplateRow } from "./template-table";
import type { Templates } from "./templates";

/** Template fields that describe a container. */
const containerFields = [
  "imageName",
  "dockerArgs",
  "dockerEntrypoint",
  "containerDiskInGb",
  "env",
  "ports",
  "containerRegistryAuthId",
  "startScript",
  "volumeMountPath",
] as const satisfies (keyof TemplateRow)[];

/** Container settings, in the fields of a template. */
export type Container = Partial<Pick<TemplateRow, (typeof containerFields)[number]>>;

const containerOf = (template: TemplateRow): Container =>
  Object.fromEntries(containerFields.map((field) => [field, template[field]]));

/** Maximum length of a template name, in characters. */
const maxNameLength = 191;
const boundName = (endpointName: unknown, id: string): string =>
  `${String(endpointName).slice(0, maxNameLength - id.length - 2)}__${id}`;

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
  const bind = (endpoint: { id: string; name: unknown }, container: Container): TemplateRow => {
    const name = boundName(endpoint.name, endpoint.id);
    const ownFields: TemplateChanges = { name, isServerless: true, volumeInGb: 0, boundEndpointId: endpoint.id };
    return templates.create({ ...container, ...ownFields });
  };

  return {
    create: (values: EndpointValues, container: Container, template: TemplateRow | undefined): EndpointRow =>
      database.transaction(() => {
        const id = endpoints.newId();
        const complete = template ? copyOf(template, container) : container;
        return endpoints.create({ ...values, templateId: bind({ id, name: values.name }, complete).id }, id);
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
        return endpoints.update(id, { ...changes, env: {}, templateId: bind(endpoint, next).id });
      }),
  };
}
