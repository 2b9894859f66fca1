import { isDeepStrictEqual } from "node:util";
import type { Database } from "../store/database";
import type { EndpointRow, EndpointValues } from "./endpoint-table";
import type { Endpoints } from "./endpoints";
import type { TemplateChanges, TemplateRow } from "./template-table";
import type { Templates } from "./templates";

/** Fields of a template that describe a container. */
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

/** Settings of a container, in the fields of a template. */
export type Container = Partial<Pick<TemplateRow, (typeof containerFields)[number]>>;

const containerOf = (template: TemplateRow): Container =>
  Object.fromEntries(containerFields.map((field) => [field, template[field]]));

/** Characters of a template's name at most. */
const longestName = 191;
const boundName = (endpointName: unknown, id: string): string =>
  `${String(endpointName).slice(0, longestName - id.length - 2)}__${id}`;

/**
 * Endpoints as REST v2 makes them: with a container of their own, which is a template that belongs to one endpoint. A template
 * that a request names is copied once; what becomes of it later does not reach the endpoint.
 */
export function createEndpointContainers(deps: { database: Database; endpoints: Endpoints; templates: Templates }) {
  const { database, endpoints, templates } = deps;

  /** The template's settings with the request's over them; variables are merged. */
  const copyOf = (templateId: string, container: Container): Container => {
    const copied = containerOf(templates.named(templateId));
    return { ...copied, ...container, env: { ...copied.env, ...container.env } };
  };
  const bind = (endpoint: { id: string; name: unknown }, container: Container): TemplateRow => {
    const name = boundName(endpoint.name, endpoint.id);
    const own: TemplateChanges = { name, isServerless: true, volumeInGb: 0, boundEndpointId: endpoint.id };
    return templates.create({ ...container, ...own });
  };

  return {
    create: (values: EndpointValues, container: Container, templateId: string | undefined): EndpointRow =>
      database.transaction(() => {
        const id = endpoints.newId();
        const whole = templateId === undefined ? container : copyOf(templateId, container);
        return endpoints.create({ ...values, templateId: bind({ id, name: values.name }, whole).id }, id);
      }),

    /** Undefined leaves a value as it is, null clears it. An endpoint that has a user's template gets one of its own with its first difference. */
    update: (id: string, changes: EndpointValues, container: Container, templateId: string | undefined): EndpointRow =>
      database.transaction(() => {
        const endpoint = endpoints.get(id);
        const template = templates.get(endpoint.templateId);
        const current = { ...containerOf(template), env: { ...template.env, ...endpoint.env } };
        const next = templateId === undefined ? { ...current, ...container } : copyOf(templateId, container);
        if (isDeepStrictEqual(next, current)) return endpoints.update(id, changes);
        if (template.boundEndpointId === id) {
          templates.update(template.id, next);
          return endpoints.update(id, { ...changes, env: {} });
        }
        return endpoints.update(id, { ...changes, env: {}, templateId: bind(endpoint, next).id });
      }),
  };
}
