import type { Clock } from "serverless-compute-api/clock";
import { limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { ServiceError } from "../errors";
import type { Database } from "../store/database";
import { parseInput } from "../validation";
import { openTable } from "./table";
import type { TemplateTable } from "./templates";

const row = z.object({ id: z.string(), name: z.string() });

/** Saved registry credentials as anyone may see them. */
export type RegistryAuthRow = z.output<typeof row>;

const credentials = { username: z.string().min(1), password: z.string().min(1) };
const registryAuthCreate = z.object({ name: z.string().min(1).max(limits.nameLength), ...credentials });
const registryAuthChange = z.object({ id: z.string(), ...credentials });

/** The saved registry credentials. Nothing here pulls images, so nothing reads the passwords back. */
export type RegistryAuths = ReturnType<typeof createRegistryAuths>;

export function createRegistryAuths(deps: { database: Database; clock: Clock; templates: TemplateTable }) {
  const { database, clock, templates } = deps;
  const table = openTable(database, { name: "registry_auths", noun: "registry auth", columns: "id, name", row });
  const byName = table.by("name");
  const insert = database.prepare(
    "INSERT INTO registry_auths (id, name, username, password, created_at) VALUES (?, ?, ?, ?, ?)",
  );
  const setCredentials = database.prepare("UPDATE registry_auths SET username = ?, password = ? WHERE id = ?");

  return {
    list: table.list,
    get: table.get,
    find: table.find,
    create: (body: unknown): RegistryAuthRow => {
      const { name, username, password } = parseInput(registryAuthCreate, body);
      return database.transaction(() => {
        if (byName(name).length > 0) {
          throw new ServiceError("conflict", `registry auth names must be unique: "${name}" already exists`);
        }
        const auth = { id: table.newId(), name };
        insert.run(auth.id, name, username, password, clock.now());
        return auth;
      });
    },
    /** New credentials under the same id. */
    update: (input: unknown): RegistryAuthRow => {
      const { id, username, password } = parseInput(registryAuthChange, input);
      setCredentials.run(username, password, id);
      return table.get(id);
    },
    /** Refused while a template uses it. */
    remove: (id: string): void =>
      table.remove(id, ({ name }) => {
        const [user] = templates.byRegistryAuth(id);
        if (!user) return;
        throw new ServiceError(
          "inUse",
          `registry auth "${name}" is in use by template "${user.name}" (${user.id}): delete that template or give it another one first`,
        );
      }),
  };
}
