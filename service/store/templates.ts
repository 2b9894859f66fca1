import { z } from "zod";
import type { Database } from "./database";
import { json } from "./json-column";

const text = z.string().default("");

/** What a template holds beside its name. Both APIs write the same fields: env is a map and ports one comma-separated text here. */
export const templateContent = z.object({
  imageName: z.string(),
  containerDiskInGb: z.number(),
  volumeInGb: z.number(),
  /** Start arguments as one command line; REST's dockerStartCmd is its words. */
  dockerArgs: text,
  dockerEntrypoint: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  ports: text,
  readme: text,
  volumeMountPath: text,
  isServerless: z.boolean().default(false),
  isPublic: z.boolean().default(false),
  category: z.enum(["NVIDIA", "AMD", "CPU"]).default("NVIDIA"),
  containerRegistryAuthId: z.string().optional(),
  startJupyter: z.boolean().default(false),
  startSsh: z.boolean().default(false),
  startScript: text,
  advancedStart: z.boolean().default(false),
  /** GraphQL's portsConfig and config: kept and told as they came. */
  portsConfig: z.unknown().optional(),
  config: z.unknown().optional(),
});
export type TemplateContent = z.output<typeof templateContent>;

/** A template; times in ms since the epoch. */
export interface TemplateRow extends TemplateContent {
  id: string;
  name: string;
  /** When the last endpoint let go of it; undefined when none has. */
  lastUsedAt: number | undefined;
  createdAt: number;
}

const row = z
  .object({
    id: z.string(),
    name: z.string(),
    content: json(templateContent),
    last_used_at: z.number().nullable(),
    created_at: z.number(),
  })
  .transform(
    ({ id, name, content, last_used_at, created_at }): TemplateRow => ({
      ...content,
      id,
      name,
      lastUsedAt: last_used_at ?? undefined,
      createdAt: created_at,
    }),
  );

/** The table of templates. */
export interface TemplateStore {
  all(): TemplateRow[];
  get(id: string): TemplateRow | undefined;
  byName(name: string): TemplateRow | undefined;
  byRegistryAuth(registryAuthId: string): TemplateRow[];
  insert(template: TemplateRow): void;
  update(template: TemplateRow): void;
  /** Notes that an endpoint let go of it. */
  used(id: string, at: number): void;
  remove(id: string): void;
}

export function createTemplateStore(database: Database): TemplateStore {
  const select = "SELECT id, name, content, last_used_at, created_at FROM templates";
  const all = database.query(`${select} ORDER BY rowid`, row);
  const get = database.query(`${select} WHERE id = ?`, row);
  const byName = database.query(`${select} WHERE name = ?`, row);
  const byRegistryAuth = database.query(`${select} WHERE registry_auth_id = ?`, row);
  const insert = database.prepare(
    "INSERT INTO templates (name, registry_auth_id, content, id, created_at) VALUES (?, ?, ?, ?, ?)",
  );
  const update = database.prepare("UPDATE templates SET name = ?, registry_auth_id = ?, content = ? WHERE id = ?");
  const used = database.prepare("UPDATE templates SET last_used_at = ? WHERE id = ?");
  const remove = database.prepare("DELETE FROM templates WHERE id = ?");
  const columns = ({ id, name, lastUsedAt, createdAt, ...content }: TemplateRow) =>
    [name, content.containerRegistryAuthId ?? null, JSON.stringify(content)] as const;
  return {
    all: () => all.all(),
    get: (id) => get.get(id),
    byName: (name) => byName.get(name),
    byRegistryAuth: (registryAuthId) => byRegistryAuth.all(registryAuthId),
    insert: (template) => void insert.run(...columns(template), template.id, template.createdAt),
    update: (template) => void update.run(...columns(template), template.id),
    used: (id, at) => void used.run(at, id),
    remove: (id) => void remove.run(id),
  };
}
