import { storedShapes, templateFields } from "serverless-compute-api/shapes";
import { z } from "zod";
import type { Database } from "../store/database";
import { json, openTable } from "./table";

const { name: _, ...stored } = templateFields;

/**
 * Template content except the name, in a form common to all APIs: env is a map, ports a comma-separated text. Start arguments are a command
 * line, or have the JSON form, which contains an entrypoint.
 */
export const templateContent = z.object({
  ...storedShapes(stored),
  imageName: z.string(),
  containerDiskInGb: z.number(),
  volumeInGb: z.number(),
  category: z.enum(["NVIDIA", "AMD", "CPU", "GPU"]).default("NVIDIA"),
  containerRegistryAuthId: z.string().optional(),
  startScript: z.string().default(""),
  advancedStart: z.boolean().default(false),
  /** GraphQL's portsConfig and config are returned unchanged. */
  portsConfig: z.unknown().optional(),
  config: z.unknown().optional(),
  /** The endpoint to which the template is bound; the template is created and deleted with it. */
  boundEndpointId: z.string().optional(),
});
export type TemplateContent = z.output<typeof templateContent>;

const words = z.array(z.string()).default([]);
const jsonForm = z.strictObject({ cmd: words, entrypoint: words });

const parseStart = (dockerArgs: string) => jsonForm.safeParse(parseJson(dockerArgs));

/** Parses `dockerArgs` in the JSON form `{"cmd": […], "entrypoint": […]}`; undefined for a command line. */
export const startCommandOf = (dockerArgs: string): z.output<typeof jsonForm> | undefined =>
  parseStart(dockerArgs).data;

/** Returns whether `dockerArgs` has the members of the JSON form, but with values of wrong types. */
export const isInvalidStart = (dockerArgs: string): boolean =>
  parseStart(dockerArgs).error?.issues.every(({ path: [member] }) => member === "cmd" || member === "entrypoint") ??
  false;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Joins words to a command line that a shell splits into the same words. */
export const commandLineOf = (parts: readonly string[]): string =>
  parts.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");

/** A template; times in ms since the epoch. */
export interface TemplateRow extends TemplateContent {
  id: string;
  name: string;
  /** Time at which the last endpoint stopped using the template; undefined if none has. */
  lastUsedAt: number | undefined;
  createdAt: number;
}

/** Template fields sent by a client, validated by the API: undefined keeps a field, null clears it. */
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

/** The rows of templates. */
export type TemplateTable = ReturnType<typeof openTemplateTable>;

export function openTemplateTable(database: Database) {
  const columns = "id, name, content, last_used_at AS lastUsedAt, created_at AS createdAt";
  const table = openTable(database, {
    name: "templates",
    noun: "template",
    columns,
    row,
    idLength: 10,
    // Bound templates are hidden from users.
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
    insert: (template: TemplateRow): void => insert.run(...values(template), template.createdAt),
    update: (template: TemplateRow): void => update.run(...values(template)),
    /** Records that an endpoint stopped using the template. */
    released: (id: string, at: number): void => setLastUsed.run(at, id),
  };
}
