import type { Clock } from "serverless-compute-api/clock";
import { secretCreateInput } from "serverless-compute-api/shapes";
import { z } from "zod";
import { notFound, notFoundOnDelete, ServiceError } from "../errors";
import type { Database } from "../store/database";
import type { SecretRow, SecretStore } from "../store/secrets";
import { parseInput } from "../validation";
import { newId } from "./ids";

/** The store would cut a value at a null character, and no process can have one in its environment. */
const value = secretCreateInput.shape.value.refine((text) => !text.includes("\0"), {
  error: "must not hold a null character",
});
const createInput = secretCreateInput.extend({ value });
const valueChange = z.object({ id: z.string(), value });
const descriptionChange = z.object({ id: z.string(), description: z.string() });

/** Rules of secrets. A value goes in and never comes out again, not in an error either. */
export interface Secrets {
  list(): SecretRow[];
  create(input: unknown): SecretRow;
  /** Workers that start from now on get the new value. */
  updateValue(input: unknown): SecretRow;
  updateDescription(input: unknown): SecretRow;
  remove(id: string): void;
}

export function createSecrets(deps: { database: Database; clock: Clock; secrets: SecretStore }): Secrets {
  const { database, clock, secrets } = deps;

  const get = (id: string): SecretRow => {
    const found = secrets.get(id);
    if (!found) throw notFound("secret", id);
    return found;
  };

  return {
    list: () => secrets.all(),
    create: (input) => {
      const { name, value, description } = parseInput(createInput, input);
      return database.transaction(() => {
        if (secrets.byName(name))
          throw new ServiceError("conflict", `secret names must be unique: "${name}" already exists`);
        const now = clock.now();
        const secret = { id: newId("secret"), name, description: description ?? null, createdAt: now, updatedAt: now };
        secrets.insert(secret, value);
        return secret;
      });
    },
    updateValue: (input) => {
      const { id, value } = parseInput(valueChange, input);
      return database.transaction(() => {
        get(id);
        secrets.updateValue(id, value, clock.now());
        return get(id);
      });
    },
    updateDescription: (input) => {
      const { id, description } = parseInput(descriptionChange, input);
      return database.transaction(() => {
        get(id);
        secrets.updateDescription(id, description, clock.now());
        return get(id);
      });
    },
    remove: (id) =>
      database.transaction(() => {
        if (!secrets.get(id)) throw notFoundOnDelete("secret", id);
        secrets.remove(id);
      }),
  };
}
