import { isDeepStrictEqual } from "node:util";
import type { Clock } from "serverless-compute-api/clock";
import { z } from "zod";
import { notFound, notFoundOnDelete, ServiceError } from "../errors";
import type { Database } from "../store/database";
import type { EndpointStore } from "../store/endpoints";
import type { RegistryAuthStore } from "../store/registry-auths";
import { type TemplateContent, type TemplateRow, type TemplateStore, templateContent } from "../store/templates";
import { parseInput } from "../validation";
import { withChanges } from "./changes";
import type { ManagementEvents } from "./events";
import { newId } from "./ids";

/** Fields that decide what a worker runs: a change of one makes a new version of every endpoint that uses the template. */
const workerFields = [
  "imageName",
  "dockerArgs",
  "dockerEntrypoint",
  "env",
  "ports",
  "containerDiskInGb",
  "volumeInGb",
  "volumeMountPath",
  "containerRegistryAuthId",
] as const satisfies (keyof TemplateContent)[];

/** A template as a door hands it to the rules, its bounds checked by the shape of its own API. */
export type TemplateValues = TemplateContent & { name: string };

/** Changes of a template: undefined leaves a field, null clears it. */
export type TemplateChanges = { [Field in keyof TemplateValues]?: TemplateValues[Field] | null | undefined };

/** What a template cannot be without; the rest has defaults. */
const wholeTemplate = templateContent.extend({ name: z.string() });

/** Rules of templates. */
export interface Templates {
  list(): TemplateRow[];
  get(id: string): TemplateRow;
  find(id: string): TemplateRow | undefined;
  /** Fields that `values` leaves out get their defaults. */
  create(values: TemplateChanges): TemplateRow;
  update(id: string, changes: TemplateChanges): TemplateRow;
  /** Refused while an endpoint uses it, and until its release is over (interface: GraphQL API, rule 4). */
  remove(id: string): void;
  removeByName(name: string): void;
}

export function createTemplates(deps: {
  database: Database;
  clock: Clock;
  /** Milliseconds from the last use of a template to its release. */
  templateRelease: number;
  templates: TemplateStore;
  endpoints: EndpointStore;
  registryAuths: RegistryAuthStore;
  events: ManagementEvents;
}): Templates {
  const { database, clock, templateRelease, templates, endpoints, registryAuths, events } = deps;

  const get = (id: string): TemplateRow => {
    const found = templates.get(id);
    if (!found) throw notFound("template", id);
    return found;
  };

  type Kept = Pick<TemplateRow, "id" | "lastUsedAt" | "createdAt">;
  const check = (values: object, { id, lastUsedAt, createdAt }: Kept): TemplateRow => {
    const template = { ...parseInput(wholeTemplate, values), id, lastUsedAt, createdAt };
    const namesake = templates.byName(template.name);
    if (namesake && namesake.id !== template.id) {
      // Clients know this text word for word.
      throw new ServiceError("conflict", "endpoint template names must be unique");
    }
    if (template.isServerless && template.volumeInGb !== 0) {
      throw new ServiceError(
        "invalid",
        `volumeInGb: ${template.volumeInGb} is not allowed, must be 0 when isServerless is true`,
      );
    }
    // The empty text is how GraphQL clients say that there is none.
    const auth = template.containerRegistryAuthId || undefined;
    if (auth !== undefined && !registryAuths.get(auth)) {
      throw new ServiceError("invalid", `containerRegistryAuthId: registry auth "${auth}" does not exist`);
    }
    return { ...template, containerRegistryAuthId: auth };
  };

  const checkReleased = (template: TemplateRow): void => {
    const [user] = endpoints.byTemplate(template.id);
    if (user) {
      throw new ServiceError(
        "inUse",
        `template "${template.name}" is in use by endpoint "${user.name}" (${user.id}): delete that endpoint or give it another template first`,
      );
    }
    if (template.lastUsedAt === undefined) return;
    const since = clock.now() - template.lastUsedAt;
    if (since < templateRelease) {
      throw new ServiceError(
        "inUse",
        `template "${template.name}" is still in use: an endpoint let go of it ${Math.floor(since / 1000)} s ago, it can be deleted in ${Math.ceil((templateRelease - since) / 1000)} s`,
      );
    }
  };

  const remove = (template: TemplateRow): void => {
    checkReleased(template);
    templates.remove(template.id);
  };

  return {
    list: () => templates.all(),
    get,
    find: (id) => templates.get(id),
    create: (values) =>
      database.transaction(() => {
        const row = { id: newId("template"), lastUsedAt: undefined, createdAt: clock.now() };
        const template = check(withChanges({}, values), row);
        templates.insert(template);
        return template;
      }),
    update: (id, changes) =>
      database.transaction(() => {
        const current = get(id);
        const next = check(withChanges(current, changes), current);
        templates.update(next);
        if (workerFields.every((field) => isDeepStrictEqual(current[field], next[field]))) return next;
        for (const endpoint of endpoints.byTemplate(id)) {
          endpoints.update({ ...endpoint, version: endpoint.version + 1 });
          database.afterCommit(() => events.emit("endpointChanged", endpoint.id, { workersRestart: true }));
        }
        return next;
      }),
    remove: (id) =>
      database.transaction(() => {
        const template = templates.get(id);
        if (!template) throw notFoundOnDelete("template", id);
        remove(template);
      }),
    removeByName: (name) =>
      database.transaction(() => {
        const template = templates.byName(name);
        if (!template) throw notFound("template", name);
        remove(template);
      }),
  };
}
