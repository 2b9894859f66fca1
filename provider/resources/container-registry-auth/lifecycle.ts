import type { Dialect, RegistryAuthRecord } from "serverless-compute-api";
import { registryAuthFields as fields } from "serverless-compute-api/shapes";
import { z } from "zod";
import { callOptions } from "../../lifecycle/calls";
import type { Context, Failure, Properties } from "../../lifecycle/contract";
import type { Update } from "../../lifecycle/create/creation";
import { type Actual, isReplacement } from "../../lifecycle/define";
import { defineObject } from "../../lifecycle/define-object";
import { deleteIfPresent } from "../../lifecycle/deletion";
import { adoptExisting } from "../adopt-existing";

/** Inputs of a ContainerRegistryAuth resource as people write them: credentials for private images. */
const registryAuthInputs = z.strictObject({ ...fields, name: fields.name.optional(), adoptExisting });

/** The inputs as the verbs get them: checked, the name filled in. */
const resolvedInputs = z.object({ ...registryAuthInputs.shape, name: z.string() });
type Inputs = z.output<typeof resolvedInputs>;

type Outputs = Record<never, never>;

/** User name and password are never shown: what was deployed last is kept. */
const fromRecord = ({ name }: RegistryAuthRecord): Actual<Inputs, Outputs> => ({ inputs: { name }, outputs: {} });

/** Characters that REST v2 accepts (contract: RegistryCreate). */
const longest = { username: 191, password: 16_384 };

const dialectRules = (inputs: Properties, dialect: Dialect): Failure[] =>
  Object.entries(longest).flatMap(([path, most]) => {
    const text = inputs[path];
    if (dialect === "v1" || typeof text !== "string" || text.length <= most) return [];
    return [{ path, reason: `has ${text.length} characters; must have ${most} or fewer with REST v2` }];
  });

async function update(
  id: string,
  { news: { username, password }, changed }: Update<Inputs>,
  context: Context,
): Promise<Outputs> {
  const { management } = context.clients;
  if (changed("username") || changed("password"))
    await management.updateRegistryAuth({ id, username, password }, callOptions(context));
  return {};
}

/**
 * Credentials for private images, which a template names by id. User name and password can never be read back; they change in
 * place with REST v1, with REST v2 another one is another object, as another name is with both. Names are unique.
 */
export const containerRegistryAuth = defineObject<Inputs, Outputs, RegistryAuthRecord>({
  kind: "ContainerRegistryAuth",
  description: "Credentials for private images; a template names them by id. They are never read back.",
  inputs: registryAuthInputs,
  resolved: resolvedInputs,
  outputs: z.object({}),
  alters: {},
  dialectRules,
  // REST v2 cannot change credentials.
  warnings: (changes, keepsName) =>
    keepsName && isReplacement(changes)
      ? [
          "replacing credentials under the same name deletes the old ones first, and workers that start meanwhile cannot pull " +
            "private images; change or remove the name to create the new ones first",
        ]
      : [],

  objects: (management) => ({
    list: management.listRegistryAuths,
    create: ({ name, username, password }, options) =>
      management.createRegistryAuth({ name, username, password }, options),
  }),
  fromRecord,
  made: () => ({}),
  update,
  delete: (id, context) => {
    const { deleteRegistryAuth: remove, listRegistryAuths: list } = context.clients.management;
    return deleteIfPresent(id, { remove, list }, context);
  },
});
