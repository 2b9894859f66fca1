import type { CallOptions, SecretRecord } from "serverless-compute-api";
import { secretReference } from "serverless-compute-api/shapes";
import { callOptions } from "../../lifecycle/calls";
import type { Context } from "../../lifecycle/contract";
import { createOnce } from "../../lifecycle/create/create-once";
import type { Update } from "../../lifecycle/create/creation";
import { type Actual, defineLifecycle } from "../../lifecycle/define";
import { deleteIfPresent } from "../../lifecycle/deletion";
import { createReads } from "../../lifecycle/reads";
import { type Inputs, type Outputs, resolvedInputs, secretInputs, secretOutputs } from "./inputs";

/** Reads of secrets. */
export const secretReads = createReads(({ listSecrets }) => ({ list: listSecrets }));

/** The value is never shown: what was deployed last is kept. */
const fromRecord = ({ name, description }: SecretRecord): Actual<Inputs, Outputs> => ({
  inputs: { name, description },
  outputs: { reference: secretReference(name) },
});

async function update(
  id: string,
  { news: { name, value, description }, changed }: Update<Inputs>,
  context: Context,
): Promise<Outputs> {
  const { management } = context.clients;
  if (changed("value")) await management.updateSecretValue({ id, value }, callOptions(context));
  if (changed("description")) await management.updateSecretDescription({ id, description }, callOptions(context));
  return { reference: secretReference(name) };
}

/** Whether no template refers to it. */
async function unused({ name }: SecretRecord, { clients }: Context, options: CallOptions): Promise<boolean> {
  const reference = secretReference(name);
  const templates = await clients.management.listTemplates(options);
  return templates.every(({ env }) => Object.values(env).every((value) => !value.includes(reference)));
}

/**
 * A secret that a template's env refers to (interface: Secret). Value and description change in place; another name is
 * another secret, for templates refer to it by name. The value can be written and never read back.
 */
export const secret = defineLifecycle<Inputs, Outputs>({
  kind: "Secret",
  description: "A sensitive value that templates hand to workers by reference; it is never read back.",
  inputs: secretInputs,
  resolved: resolvedInputs,
  outputs: secretOutputs,
  alters: { reference: ["name"] },
  derives: { reference: ({ name }) => (typeof name === "string" ? secretReference(name) : undefined) },

  async create(inputs, context) {
    const { management } = context.clients;
    const { name, value, description } = inputs;
    return createOnce(
      {
        ...{ kind: "Secret", inputs, shape: secretInputs },
        send: (options) => management.createSecret({ name, value, description }, options),
        list: management.listSecrets,
        actual: (found) => fromRecord(found).inputs,
        outputs: () => ({ reference: secretReference(name) }),
        change: (id, changes) => update(id, changes, context),
        leftover: { onlyRecent: true, unused: (found, options) => unused(found, context, options) },
      },
      context,
    );
  },

  async read(id, _olds, context) {
    const record = await secretReads(context).one(id, context);
    return record && fromRecord(record);
  },

  update,

  async delete(id, _olds, context) {
    const { management } = context.clients;
    await deleteIfPresent(id, { remove: management.deleteSecret, list: management.listSecrets }, context);
  },
});
