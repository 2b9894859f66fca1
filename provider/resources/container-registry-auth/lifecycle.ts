import type { RegistryAuthRecord } from "serverless-compute-api";
import { z } from "zod";
import { callOptions } from "../../lifecycle/calls";
import type { Context } from "../../lifecycle/contract";
import { createOnce } from "../../lifecycle/create/create-once";
import type { Update } from "../../lifecycle/create/creation";
import { type Actual, defineLifecycle } from "../../lifecycle/define";
import { deleteIfPresent } from "../../lifecycle/deletion";
import { createReads } from "../../lifecycle/reads";
import { type Inputs, registryAuthInputs, resolvedInputs } from "./inputs";

/** Reads of registry credentials. */
export const registryAuthReads = createReads(({ listRegistryAuths }) => ({ list: listRegistryAuths }));

type Outputs = Record<never, never>;

/** User name and password are never shown: what was deployed last is kept. */
const fromRecord = ({ name }: RegistryAuthRecord): Actual<Inputs, Outputs> => ({ inputs: { name }, outputs: {} });

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
 * Credentials for private images, which a template names by id. User name and password change in place and can never be
 * read back; names are unique, and another name is another object.
 */
export const containerRegistryAuth = defineLifecycle<Inputs, Outputs>({
  kind: "ContainerRegistryAuth",
  description: "Credentials for private images; a template names them by id. They are never read back.",
  inputs: registryAuthInputs,
  resolved: resolvedInputs,
  outputs: z.object({}),
  alters: {},

  async create(inputs, context) {
    const { management } = context.clients;
    const { name, username, password } = inputs;
    return createOnce(
      {
        ...{ kind: "ContainerRegistryAuth", inputs, shape: registryAuthInputs },
        send: (options) => management.createRegistryAuth({ name, username, password }, options),
        list: management.listRegistryAuths,
        actual: (found) => fromRecord(found).inputs,
        outputs: () => ({}),
        change: (id, changes) => update(id, changes, context),
      },
      context,
    );
  },

  async read(id, _olds, context) {
    const record = await registryAuthReads(context).one(id, context);
    return record && fromRecord(record);
  },

  update,

  async delete(id, _olds, context) {
    const { management } = context.clients;
    const calls = { remove: management.deleteRegistryAuth, list: management.listRegistryAuths };
    await deleteIfPresent(id, calls, context);
  },
});
