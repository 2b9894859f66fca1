import { isDeepStrictEqual } from "node:util";
import { limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { invalidProperty, notFound, ServiceError } from "../errors";
import type { SystemClock } from "../steady-clock";
import type { Database } from "../store/database";
import { parseInput } from "../validation";
import { containerFields } from "./container";
import type { EndpointRow, EndpointTable } from "./endpoint-table";
import type { RegistryAuths } from "./registry-auths";
import { withChanges } from "./table";
import {
  isInvalidStart,
  type TemplateChanges,
  type TemplateRow,
  type TemplateTable,
  templateContent,
} from "./template-table";

/** A complete template; all fields except the required ones have defaults. */
const templateShape = templateContent.extend({ name: z.string() });

/** Templates and their rules. */
export type Templates = ReturnType<typeof createTemplates>;

export function createTemplates(deps: {
  database: Database;
  clock: SystemClock;
  /** Time from the last use of a template to its release, ms. */
  templateRelease: number;
  table: TemplateTable;
  endpoints: EndpointTable;
  registryAuths: Pick<RegistryAuths, "find">;
}) {
  const { database, clock, templateRelease, table, endpoints, registryAuths } = deps;

  type UnchangedFields = Pick<TemplateRow, "id" | "lastUsedAt" | "createdAt">;
  const check = (values: object, { id, lastUsedAt, createdAt }: UnchangedFields): TemplateRow => {
    const template = { ...parseInput(templateShape, values, { of: "template" }), id, lastUsedAt, createdAt };
    if (table.byName(template.name).some((existing) => existing.id !== id)) {
      // Clients compare this exact text.
      throw new ServiceError("conflict", "endpoint template names must be unique");
    }
    if (template.isServerless && template.volumeInGb !== 0) {
      throw invalidProperty(
        "volumeInGb",
        (nameOf) => `${template.volumeInGb} is not allowed; must be 0 when ${nameOf("isServerless")} is true`,
        "template",
      );
    }
    // Without the value, which may contain a secret.
    if (isInvalidStart(template.dockerArgs))
      throw invalidProperty("dockerArgs", "cmd and entrypoint must be lists of strings", "template");
    // GraphQL clients send an empty string for no credentials.
    const auth = template.containerRegistryAuthId || undefined;
    if (auth !== undefined && !registryAuths.find(auth)) {
      throw invalidProperty("containerRegistryAuthId", `registry auth "${auth}" does not exist`, "template");
    }
    return { ...template, containerRegistryAuthId: auth };
  };

  const checkReleased = ({ id, name, lastUsedAt }: TemplateRow): void => {
    const [user] = endpoints.byTemplate(id);
    if (user) {
      throw new ServiceError(
        "templateInUse",
        `template "${name}" is in use by endpoint "${user.name}" (${user.id}); delete that endpoint or set another template for it first`,
      );
    }
    if (lastUsedAt === undefined) return;
    const elapsed = clock.now() - lastUsedAt;
    // A time in the future means that the clock was set back; the wait must not last until then.
    if (elapsed >= 0 && elapsed < templateRelease) {
      throw new ServiceError(
        "templateInUse",
        `template "${name}" is still in use: an endpoint released it ${Math.floor(elapsed / 1000)} s ago; it can be deleted in ${Math.ceil((templateRelease - elapsed) / 1000)} s`,
      );
    }
  };

  /** Deletes a template; throws while an endpoint uses it and until its release (interface: GraphQL API, rule 4). */
  const remove = (id: string): void => table.remove(id, checkReleased);

  /** Creates a template; fields missing from `values` get their defaults. */
  const create = (values: TemplateChanges, id = table.newId()): TemplateRow =>
    database.transaction(() => {
      const template = check(withChanges({}, values), { id, lastUsedAt: undefined, createdAt: clock.now() });
      table.insert(template);
      return template;
    });

  return {
    /** Templates created by users; with `bound`, also bound templates. */
    list: ({ bound = false } = {}): TemplateRow[] =>
      table.list().filter(({ boundEndpointId }) => bound || boundEndpointId === undefined),
    newest: table.newest,
    get: table.get,
    find: table.find,
    create: (values: TemplateChanges): TemplateRow => create(values),
    /** Creates the template of an endpoint's own container. */
    createBound: (endpoint: Pick<EndpointRow, "id" | "name">, container: TemplateChanges): TemplateRow => {
      const id = table.newId();
      const name = `${endpoint.name.slice(0, limits.nameLength - id.length - 2)}__${id}`;
      return create({ ...container, name, isServerless: true, volumeInGb: 0, boundEndpointId: endpoint.id }, id);
    },
    /**
     * Within a transaction: releases the template of an endpoint that no longer uses it. It stays in use for a while. A bound template is
     * deleted, or belongs to the user from then on if another endpoint uses it.
     */
    release({ id: endpointId, templateId }: Pick<EndpointRow, "id" | "templateId">): void {
      const template = table.get(templateId);
      const isBound = template.boundEndpointId === endpointId;
      if (isBound && endpoints.byTemplate(templateId).length === 0) table.remove(templateId);
      else {
        if (isBound) table.update({ ...template, boundEndpointId: undefined });
        table.released(templateId, clock.now());
      }
    },
    update: (id: string, changes: TemplateChanges): TemplateRow =>
      database.transaction(() => {
        const current = table.get(id);
        const updated = check(withChanges(current, changes), current);
        table.update(updated);
        if (containerFields.every((field) => isDeepStrictEqual(current[field], updated[field]))) return updated;
        for (const endpoint of endpoints.byTemplate(id)) {
          endpoints.update({ ...endpoint, version: endpoint.version + 1 }, { workersRestart: true });
        }
        return updated;
      }),
    remove,
    removeByName: (name: string): void => {
      const [template] = table.byName(name);
      if (!template) throw notFound("template", name);
      remove(template.id);
    },
  };
}
