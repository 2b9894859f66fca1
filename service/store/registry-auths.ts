import { z } from "zod";
import type { Database } from "./database";

const row = z.object({ id: z.string(), name: z.string() });

/** Saved registry credentials as anyone may see them. */
export type RegistryAuthRow = z.output<typeof row>;

/** What signs in to a registry; written, never told. */
export interface RegistryCredentials {
  username: string;
  password: string;
}

/** The table of registry credentials. Nothing here pulls images, so nothing reads the passwords back. */
export interface RegistryAuthStore {
  all(): RegistryAuthRow[];
  get(id: string): RegistryAuthRow | undefined;
  byName(name: string): RegistryAuthRow | undefined;
  insert(auth: RegistryAuthRow, credentials: RegistryCredentials, at: number): void;
  updateCredentials(id: string, credentials: RegistryCredentials): void;
  remove(id: string): void;
}

export function createRegistryAuthStore(database: Database): RegistryAuthStore {
  const all = database.query("SELECT id, name FROM registry_auths ORDER BY rowid", row);
  const get = database.query("SELECT id, name FROM registry_auths WHERE id = ?", row);
  const byName = database.query("SELECT id, name FROM registry_auths WHERE name = ?", row);
  const insert = database.prepare(
    "INSERT INTO registry_auths (id, name, username, password, created_at) VALUES (?, ?, ?, ?, ?)",
  );
  const update = database.prepare("UPDATE registry_auths SET username = ?, password = ? WHERE id = ?");
  const remove = database.prepare("DELETE FROM registry_auths WHERE id = ?");
  return {
    all: () => all.all(),
    get: (id) => get.get(id),
    byName: (name) => byName.get(name),
    insert: ({ id, name }, { username, password }, at) => void insert.run(id, name, username, password, at),
    updateCredentials: (id, { username, password }) => void update.run(username, password, id),
    remove: (id) => void remove.run(id),
  };
}
