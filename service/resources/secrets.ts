import { z } from "zod";
import { ServiceError } from "../errors";
import type { SystemClock } from "../steady-clock";
import type { Database } from "../store/database";
import { openTable } from "./table";

const row = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
  valueUpdatedAt: z.number(),
});

/** A secret without its value; times in ms since the epoch. */
export type SecretRow = z.output<typeof row>;

/** A new secret, validated by the API. */
export interface NewSecret {
  name: string;
  value: string;
  description?: string | null | undefined;
}

/** The secrets. Values are only read to start workers, and never appear in errors. */
export type Secrets = ReturnType<typeof createSecrets>;

export function createSecrets({ database, clock }: { database: Database; clock: SystemClock }) {
  const columns =
    "id, name, description, created_at AS createdAt, updated_at AS updatedAt, value_updated_at AS valueUpdatedAt";
  const table = openTable(database, { name: "secrets", noun: "secret", columns, row });
  const byName = table.by("name");
  const valueByName = database.query("SELECT value FROM secrets WHERE name = ?", z.object({ value: z.string() }));
  const insert = database.prepare(
    "INSERT INTO secrets (id, name, value, description, created_at, updated_at, value_updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const setValue = database.prepare("UPDATE secrets SET value = ?, updated_at = ?, value_updated_at = ? WHERE id = ?");
  const setDescription = database.prepare("UPDATE secrets SET description = ?, updated_at = ? WHERE id = ?");

  return {
    list: table.list,
    newest: table.newest,
    get: table.get,
    create: ({ name, value, description = null }: NewSecret): SecretRow =>
      database.transaction(() => {
        if (byName(name).length > 0)
          throw new ServiceError("taken", `secret names must be unique: "${name}" already exists`);
        const now = clock.now();
        const secret = { id: table.newId(), name, description, createdAt: now, updatedAt: now, valueUpdatedAt: now };
        insert.run(secret.id, name, value, description, now, now, now);
        return secret;
      }),
    /** Changes a value; workers started from then on get it. */
    updateValue: ({ id, value }: { id: string; value: string }): SecretRow => {
      const now = clock.now();
      setValue.run(value, now, now, id);
      return table.get(id);
    },
    updateDescription: ({ id, description }: { id: string; description: string | null }): SecretRow => {
      setDescription.run(description, clock.now(), id);
      return table.get(id);
    },
    remove: (id: string): void => table.remove(id),
    /** The value of a secret by name, for a worker's environment; undefined if it does not exist. */
    valueOf: (name: string): string | undefined => valueByName.get(name)?.value,
  };
}
