import type { Dialect, RegistryAuthRecord } from "serverless-compute-api";
import { registryAuthFields as fields, registryAuthMaxLengths } from "serverless-compute-api/shapes";
import { z } from "zod";
import type { Properties } from "../../engine/values";
import { callOptions } from "../../framework/calls";
import type { Context, Failure } from "../../framework/contract";
import { isReplacement, type ObservedObject, type Update } from "../../framework/definition";
import { defineObject } from "../../framework/object";
import { adoptExisting } from "../adopt-existing";

/** Inputs of a ContainerRegistryAuth resource in a program. */
const registryAuthInputs = z.strictObject({ ...fields, name: fields.name.optional(), adoptExisting });

/** Checked inputs with a name, as passed to the operations. */
const checkedInputs = z.object({ ...registryAuthInputs.shape, name: z.string() });
type Inputs = z.output<typeof checkedInputs>;

type Outputs = Record<never, never>;

/** Converts a record. The service never returns the credentials, so the last deployed values are kept. */
const observe = ({ name }: RegistryAuthRecord): ObservedObject<Inputs, Outputs> => ({
  inputs: { name },
  outputs: {},
});

const validate = (inputs: Properties, dialect: Dialect): Failure[] =>
  Object.entries(registryAuthMaxLengths).flatMap(([path, max]) => {
    const text = inputs[path];
    const length = typeof text === "string" ? [...text].length : 0;
    if (dialect === "v1" || length <= max) return [];
    return [{ path, reason: `has ${length} characters; must have ${max} or fewer with REST v2` }];
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
 * Credentials for private images; a template refers to them by id. User name and password cannot be read back. With REST v1 they
 * change in place; with REST v2 a change replaces the credentials. A change of the name always replaces them. Names are unique.
 */
export const containerRegistryAuth = defineObject<Inputs, Outputs, RegistryAuthRecord>({
  kind: "ContainerRegistryAuth",
  description: "Credentials for private images; a template refers to them by id. They cannot be read back.",
  inputs: registryAuthInputs,
  checkedInputs,
  outputs: z.object({}),
  validate,
  // REST v2 cannot change credentials.
  plan: ({ changes, keepsName }) =>
    keepsName && isReplacement(changes)
      ? {
          warnings: [
            "replacing credentials under the same name deletes the old ones first, and workers that start in between cannot pull " +
              "private images; change or remove the name to create the new ones first",
          ],
        }
      : {},

  client: (management) => ({
    list: management.listRegistryAuths,
    ...(management.readRegistryAuth && { read: management.readRegistryAuth }),
    create: ({ name, username, password }, options) =>
      management.createRegistryAuth({ name, username, password }, options),
    delete: management.deleteRegistryAuth,
  }),
  observe,
  update,
});
