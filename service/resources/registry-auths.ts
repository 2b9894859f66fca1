import { registryAuthFields } from "serverless-compute-api/shapes";
import { z } from "zod";
import { ServiceError } from "../errors";
import type { SystemClock } from "../steady-clock";
import type { Database } from "../store/database";
import { parseInput } from "../validation";
import { openTable } from "./table";
import type { TemplateTable } from "./template-table";

const row = z.object({ id: z.string(), name: z.string() });

/** Public properties of saved registry credentials. */
type RegistryAuthRow = z.output<typeof row>;

const registryAuthCreate = z.object(registryAuthFields);
const credentials = registryAuthCreate.omit({ name: true });
const registryAuthChange = credentials.extend({ id: z.string() });

/** Credentials for pulling a private image. */
export type RegistryCredentials = z.output<typeof credentials>;

/** The address of an image's registry, as container engines name it in credentials. */
export function registryOf(image: string): string {
  const [host = ""] = image.split("/");
  const isRegistry = image.includes("/") && (/[.:]/.test(host) || host === "localhost");
  return isRegistry ? host : "https://index.docker.io/v1/";
}

/** The saved registry credentials. Passwords are only used to pull images. */
export type RegistryAuths = ReturnType<typeof createRegistryAuths>;

export function createRegistryAuths(deps: { database: Database; clock: SystemClock; templates: TemplateTable }) {
  const { database, clock, templates } = deps;
  const table = openTable(database, { name: "registry_auths", noun: "registry auth", columns: "id, name", row });
  const byName = table.by("name");
  const insert = database.prepare(
    "INSERT INTO registry_auths (id, name, username, password, created_at) VALUES (?, ?, ?, ?, ?)",
  );
  const credentialsById = database.query("SELECT username, password FROM registry_auths WHERE id = ?", credentials);
  const setCredentials = database.prepare("UPDATE registry_auths SET username = ?, password = ? WHERE id = ?");

  return {
    list: table.list,
    newest: table.newest,
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
    /** Replaces the credentials; the id stays the same. */
    update: (input: unknown): RegistryAuthRow => {
      const { id, username, password } = parseInput(registryAuthChange, input);
      setCredentials.run(username, password, id);
      return table.get(id);
    },
    /** The credentials for pulling an image; undefined if the id is unknown. */
    credentialsOf: (id: string): RegistryCredentials | undefined => credentialsById.get(id),
    /** Deletes credentials and, like the hosted service, their references in templates. Only pods, which do not exist here, prevent it. */
    remove: (id: string): void =>
      table.remove(id, () => {
        for (const template of templates.byRegistryAuth(id)) {
          templates.update({ ...template, containerRegistryAuthId: undefined });
        }
      }),
  };
}
