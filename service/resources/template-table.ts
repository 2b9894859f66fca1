import { storedShapes, templateFields } from "serverless-compute-api/shapes";
import { z } from "zod";
import type { Database } from "../store/database";
import { json, openTable } from "./table";

const { name: _, ...stored } = templateFields;

/**
 * Content of a template except its name, in a form common to all APIs: env is a map, ports a comma-separated text. Start
 * arguments are one command line, whose words are REST's dockerStartCmd, or in their JSON form.
 */
export const templateContent = z.object({
  ...storedShapes(stored),
  imageName: z.string(),
  containerDiskInGb: z.number(),
  volumeInGb: z.number(),
  dockerEntrypoint: z.array(z.string()).default([]),
  category: z.enum(["NVIDIA", "AMD", "CPU", "GPU"]).default("NVIDIA"),
  containerRegistryAuthId: z.string().optional(),
  startScript: z.string().default(""),
  advancedStart: z.boolean().default(false),
  /** GraphQL's portsConfig and config are returned as they came. */
  portsConfig: z.unknown().optional(),
  config: z.unknown().optional(),
  /** The only endpoint that uses the template, which is created and deleted with that endpoint. */
  boundEndpointId: z.string().optional(),
});
export type TemplateContent = z.output<typeof templateContent>;

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

/** A template; times in ms since the epoch. */
export interface TemplateRow extends TemplateContent {
  id: string;
  name: string;
  /** When the last endpoint stopped using it; undefined when none has. */
  lastUsedAt: number | undefined;
  createdAt: number;
}

/** Fields of a template that a client sent, their bounds checked by its API: undefined leaves one as it is, null clears it. */
export type TemplateChanges = { [Field in keyof TemplateContent | "name"]?: TemplateRow[Field] | null | undefined };

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
  const table = openTable(database, {
    name: "templates",
    noun: "template",
    columns,
    row,
    idLength: 10,
    // Users do not see the templates of endpoints that were created without one.
    listed: "content ->> 'boundEndpointId' IS NULL",
  });
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
