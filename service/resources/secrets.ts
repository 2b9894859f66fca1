import type { Clock } from "serverless-compute-api/clock";
import { secretCreateInput } from "serverless-compute-api/shapes";
import { z } from "zod";
import { ServiceError } from "../errors";
import type { Database } from "../store/database";
import { parseInput } from "../validation";
import { openTable } from "./table";

const row = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

/** A secret without its value; times in ms since the epoch. */
export type SecretRow = z.output<typeof row>;

/** The store would cut a value at a null character, and no process can have one in its environment. */
const value = secretCreateInput.shape.value.refine((text) => !text.includes("\0"), {
  error: "must not hold a null character",
});
const createInput = secretCreateInput.extend({ value });
const valueChange = z.object({ id: z.string(), value });

/** The secrets. A value goes in and comes out to the start of a worker only, not in an error either. */
export type Secrets = ReturnType<typeof createSecrets>;

export function createSecrets({ database, clock }: { database: Database; clock: Clock }) {
  const columns = "id, name, description, created_at AS createdAt, updated_at AS updatedAt";
  const table = openTable(database, { name: "secrets", noun: "secret", columns, row });
  const byName = table.by("name");
  const valueByName = database.query("SELECT value FROM secrets WHERE name = ?", z.object({ value: z.string() }));
  const insert = database.prepare(
    "INSERT INTO secrets (id, name, value, description, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const setValue = database.prepare("UPDATE secrets SET value = ?, updated_at = ? WHERE id = ?");
  const setDescription = database.prepare("UPDATE secrets SET description = ?, updated_at = ? WHERE id = ?");

  return {
    list: table.list,
    create: (input: unknown): SecretRow => {
      const { name, value, description = null } = parseInput(createInput, input);
      return database.transaction(() => {
        if (byName(name).length > 0)
          throw new ServiceError("conflict", `secret names must be unique: "${name}" already exists`);
        const now = clock.now();
        const secret = { id: table.newId(), name, description, createdAt: now, updatedAt: now };
        insert.run(secret.id, name, value, description, now, now);
        return secret;
      });
    },
    /** Workers that start from now on get the new value. */
    updateValue: (input: unknown): SecretRow => {
      const { id, value } = parseInput(valueChange, input);
      setValue.run(value, clock.now(), id);
      return table.get(id);
    },
    updateDescription: ({ id, description }: { id: string; description: string }): SecretRow => {
      setDescription.run(description, clock.now(), id);
      return table.get(id);
    },
    remove: (id: string): void => table.remove(id),
    /** The value for a worker's environment; undefined when no secret has the name. */
    valueOf: (name: string): string | undefined => valueByName.get(name)?.value,
  };
}
