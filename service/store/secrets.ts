import { z } from "zod";
import type { Database } from "./database";

const row = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    created_at: z.number(),
    updated_at: z.number(),
  })
  .transform(({ created_at, updated_at, ...rest }) => ({ ...rest, createdAt: created_at, updatedAt: updated_at }));

/** A secret without its value; times in ms since the epoch. */
export type SecretRow = z.output<typeof row>;

/** The table of secrets. Values go in, and out only to the start of a worker. */
export interface SecretStore {
  all(): SecretRow[];
  get(id: string): SecretRow | undefined;
  byName(name: string): SecretRow | undefined;
  insert(secret: SecretRow, value: string): void;
  updateValue(id: string, value: string, at: number): void;
  updateDescription(id: string, description: string, at: number): void;
  remove(id: string): void;
  /** The value that a worker's environment gets for a reference. */
  valueOf(name: string): string | undefined;
}

export function createSecretStore(database: Database): SecretStore {
  const select = "SELECT id, name, description, created_at, updated_at FROM secrets";
  const all = database.query(`${select} ORDER BY rowid`, row);
  const get = database.query(`${select} WHERE id = ?`, row);
  const byName = database.query(`${select} WHERE name = ?`, row);
  const value = database.query("SELECT value FROM secrets WHERE name = ?", z.object({ value: z.string() }));
  const insert = database.prepare(
    "INSERT INTO secrets (id, name, value, description, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const updateValue = database.prepare("UPDATE secrets SET value = ?, updated_at = ? WHERE id = ?");
  const updateDescription = database.prepare("UPDATE secrets SET description = ?, updated_at = ? WHERE id = ?");
  const remove = database.prepare("DELETE FROM secrets WHERE id = ?");
  return {
    all: () => all.all(),
    get: (id) => get.get(id),
    byName: (name) => byName.get(name),
    insert: ({ id, name, description, createdAt, updatedAt }, text) =>
      void insert.run(id, name, text, description, createdAt, updatedAt),
    updateValue: (id, text, at) => void updateValue.run(text, at, id),
    updateDescription: (id, description, at) => void updateDescription.run(description, at, id),
    remove: (id) => void remove.run(id),
    valueOf: (name) => value.get(name)?.value,
  };
}
