import type { Clock } from "serverless-compute-api/clock";
import { limits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { notFound, notFoundOnDelete, ServiceError } from "../errors";
import type { Database } from "../store/database";
import type { RegistryAuthRow, RegistryAuthStore } from "../store/registry-auths";
import type { TemplateStore } from "../store/templates";
import { parseInput } from "../validation";
import { newId } from "./ids";

const credentials = { username: z.string().min(1), password: z.string().min(1) };
const registryAuthCreate = z.object({ name: z.string().min(1).max(limits.nameLength), ...credentials });
const registryAuthChange = z.object({ id: z.string(), ...credentials });

/** Rules of saved registry credentials. Answers hold the id and the name only. */
export interface RegistryAuths {
  list(): RegistryAuthRow[];
  get(id: string): RegistryAuthRow;
  create(body: unknown): RegistryAuthRow;
  /** New credentials under the same id. */
  update(input: unknown): RegistryAuthRow;
  /** Refused while a template uses it. */
  remove(id: string): void;
}

export function createRegistryAuths(deps: {
  database: Database;
  clock: Clock;
  registryAuths: RegistryAuthStore;
  templates: TemplateStore;
}): RegistryAuths {
  const { database, clock, registryAuths, templates } = deps;

  const get = (id: string): RegistryAuthRow => {
    const found = registryAuths.get(id);
    if (!found) throw notFound("registry auth", id);
    return found;
  };

  return {
    list: () => registryAuths.all(),
    get,
    create: (body) => {
      const { name, ...secret } = parseInput(registryAuthCreate, body);
      return database.transaction(() => {
        if (registryAuths.byName(name)) {
          throw new ServiceError("conflict", `registry auth names must be unique: "${name}" already exists`);
        }
        const auth = { id: newId("registryAuth"), name };
        registryAuths.insert(auth, secret, clock.now());
        return auth;
      });
    },
    update: (input) => {
      const { id, ...secret } = parseInput(registryAuthChange, input);
      return database.transaction(() => {
        const auth = get(id);
        registryAuths.updateCredentials(id, secret);
        return auth;
      });
    },
    remove: (id) =>
      database.transaction(() => {
        const found = registryAuths.get(id);
        if (!found) throw notFoundOnDelete("registry auth", id);
        const [user] = templates.byRegistryAuth(id);
        if (user) {
          throw new ServiceError(
            "inUse",
            `registry auth "${found.name}" is in use by template "${user.name}" (${user.id}): delete that template or give it another one first`,
          );
        }
        registryAuths.remove(id);
      }),
  };
}
