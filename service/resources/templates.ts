import { isDeepStrictEqual } from "node:util";
import type { Clock } from "serverless-compute-api/clock";
import { z } from "zod";
import { notFound, ServiceError } from "../errors";
import type { Database } from "../store/database";
import { parseInput } from "../validation";
import type { EndpointTable } from "./endpoints";
import type { RegistryAuths } from "./registry-auths";
import { json, openTable, withChanges } from "./table";

const text = z.string().default("");

/** Content of a template except its name, in a form common to all APIs: env is a map, ports a comma-separated text. */
const templateContent = z.object({
  imageName: z.string(),
  containerDiskInGb: z.number(),
  volumeInGb: z.number(),
  /** Start arguments as one command line, whose words are REST's dockerStartCmd, or in their JSON form. */
  dockerArgs: text,
  dockerEntrypoint: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  ports: text,
  readme: text,
  volumeMountPath: text,
  isServerless: z.boolean().default(false),
  isPublic: z.boolean().default(false),
  category: z.enum(["NVIDIA", "AMD", "CPU", "GPU"]).default("NVIDIA"),
  containerRegistryAuthId: z.string().optional(),
  startJupyter: z.boolean().default(false),
  startSsh: z.boolean().default(false),
  allowedCudaVersions: z.array(z.string()).default([]),
  startScript: text,
  advancedStart: z.boolean().default(false),
  /** GraphQL's portsConfig and config are returned as they came. */
  portsConfig: z.unknown().optional(),
  config: z.unknown().optional(),
  /** The only endpoint that uses the template, which is created and deleted with that endpoint. */
  boundEndpointId: z.string().optional(),
});
type TemplateContent = z.output<typeof templateContent>;

const words = z.array(z.string()).default([]);
const jsonForm = z.strictObject({ cmd: words, entrypoint: words });

/** A template's `dockerArgs` in their JSON form, `{"cmd": […], "entrypoint": […]}`; undefined where they are a command line. */
export function startCommandOf(dockerArgs: string): z.output<typeof jsonForm> | undefined {
  if (!dockerArgs.trimStart().startsWith("{")) return undefined;
  try {
    return jsonForm.safeParse(JSON.parse(dockerArgs)).data;
  } catch {
    return undefined;
  }
}

/** Words as one command line, which a shell splits into the same words. */
export const commandLineOf = (parts: readonly string[]): string =>
  parts.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");

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

/** A template; times in ms since the epoch. */
export interface TemplateRow extends TemplateContent {
  id: string;
  name: string;
  /** When the last endpoint stopped using it; undefined when none has. */
  lastUsedAt: number | undefined;
  createdAt: number;
}

const row = z
  .object({
    id: z.string(),
    name: z.string(),
    content: json(templateContent),
    lastUsedAt: z.number().nullable(),
    createdAt: z.number(),
  })
  .transform(
    ({ content, lastUsedAt, ...rest }): TemplateRow => ({ ...content, ...rest, lastUsedAt: lastUsedAt ?? undefined }),
  );

/** The rows of templates, for the rules of what they use and what uses them. */
export type TemplateTable = ReturnType<typeof openTemplateTable>;

export function openTemplateTable(database: Database) {
  const columns = "id, name, content, last_used_at AS lastUsedAt, created_at AS createdAt";
  const table = openTable(database, { name: "templates", noun: "template", columns, row, idLength: 10 });
  const insert = database.prepare(
    "INSERT INTO templates (name, registry_auth_id, content, id, created_at) VALUES (?, ?, ?, ?, ?)",
  );
  const update = database.prepare("UPDATE templates SET name = ?, registry_auth_id = ?, content = ? WHERE id = ?");
  const setLastUsed = database.prepare("UPDATE templates SET last_used_at = ? WHERE id = ?");
  const values = ({ id, name, lastUsedAt, createdAt, ...content }: TemplateRow) =>
    [name, content.containerRegistryAuthId ?? null, JSON.stringify(content), id] as const;
  return {
    ...table,
    byName: table.by("name"),
    byRegistryAuth: table.by("registry_auth_id"),
    insert: (template: TemplateRow): void => void insert.run(...values(template), template.createdAt),
    update: (template: TemplateRow): void => void update.run(...values(template)),
    /** Records that an endpoint stopped using it. */
    released: (id: string, at: number): void => void setLastUsed.run(at, id),
  };
}

/** Fields of a template that a client sent, their bounds checked by its API: undefined leaves one as it is, null clears it. */
export type TemplateChanges = { [Field in keyof TemplateContent | "name"]?: TemplateRow[Field] | null | undefined };

/** Required fields of a template; the rest has defaults. */
const wholeTemplate = templateContent.extend({ name: z.string() });

/** The templates and their rules. */
export type Templates = ReturnType<typeof createTemplates>;

export function createTemplates(deps: {
  database: Database;
  clock: Clock;
  /** Milliseconds from the last use of a template to its release. */
  templateRelease: number;
  table: TemplateTable;
  endpoints: EndpointTable;
  registryAuths: Pick<RegistryAuths, "find">;
}) {
  const { database, clock, templateRelease, table, endpoints, registryAuths } = deps;

  type Kept = Pick<TemplateRow, "id" | "lastUsedAt" | "createdAt">;
  const check = (values: object, { id, lastUsedAt, createdAt }: Kept): TemplateRow => {
    const template = { ...parseInput(wholeTemplate, values), id, lastUsedAt, createdAt };
    if (table.byName(template.name).some((other) => other.id !== id)) {
      // Clients compare this exact text.
      throw new ServiceError("conflict", "endpoint template names must be unique");
    }
    if (template.isServerless && template.volumeInGb !== 0) {
      throw new ServiceError(
        "invalid",
        `volumeInGb: ${template.volumeInGb} is not allowed, must be 0 when isServerless is true`,
      );
    }
    // GraphQL clients send an empty string for none.
    const auth = template.containerRegistryAuthId || undefined;
    if (auth !== undefined && !registryAuths.find(auth)) {
      throw new ServiceError("invalid", `containerRegistryAuthId: registry auth "${auth}" does not exist`);
    }
    return { ...template, containerRegistryAuthId: auth };
  };

  const checkReleased = ({ id, name, lastUsedAt }: TemplateRow): void => {
    const [user] = endpoints.byTemplate(id);
    if (user) {
      throw new ServiceError(
        "inUse",
        `template "${name}" is in use by endpoint "${user.name}" (${user.id}): delete that endpoint or give it another template first`,
      );
    }
    if (lastUsedAt === undefined) return;
    const since = clock.now() - lastUsedAt;
    if (since < templateRelease) {
      throw new ServiceError(
        "inUse",
        `template "${name}" is still in use: an endpoint let go of it ${Math.floor(since / 1000)} s ago, it can be deleted in ${Math.ceil((templateRelease - since) / 1000)} s`,
      );
    }
  };

  /** Rejects while an endpoint uses the template and until its release (interface: GraphQL API, rule 4). */
  const remove = (id: string): void => table.remove(id, checkReleased);

  return {
    /** Templates created by users; with `bound`, also templates that belong to one endpoint. */
    list: ({ bound = false } = {}): TemplateRow[] =>
      table.list().filter(({ boundEndpointId }) => bound || boundEndpointId === undefined),
    /** Templates created by users, newest first. */
    newest: () => table.newest().filter(({ row }) => row.boundEndpointId === undefined),
    get: table.get,
    find: table.find,
    /** The template that another object's request names. */
    named: (id: string): TemplateRow => {
      const template = table.find(id);
      if (!template) throw new ServiceError("invalid", `templateId: template "${id}" does not exist`);
      return template;
    },
    /** Fields that `values` leaves out get their defaults. */
    create: (values: TemplateChanges): TemplateRow =>
      database.transaction(() => {
        const kept = { id: table.newId(), lastUsedAt: undefined, createdAt: clock.now() };
        const template = check(withChanges({}, values), kept);
        table.insert(template);
        return template;
      }),
    update: (id: string, changes: TemplateChanges): TemplateRow =>
      database.transaction(() => {
        const current = table.get(id);
        const next = check(withChanges(current, changes), current);
        table.update(next);
        if (workerFields.every((field) => isDeepStrictEqual(current[field], next[field]))) return next;
        for (const endpoint of endpoints.byTemplate(id)) {
          endpoints.update({ ...endpoint, version: endpoint.version + 1 }, { workersRestart: true });
        }
        return next;
      }),
    remove,
    removeByName: (name: string): void => {
      const [template] = table.byName(name);
      if (!template) throw notFound("template", name);
      remove(template.id);
    },
  };
}
