import type { CallOptions, SecretRecord } from "serverless-compute-api";
import { secretInputs, secretOutputs, secretReference } from "serverless-compute-api/shapes";
import { z } from "zod";
import { removeOnce } from "./absence";
import { callOptions } from "./calls";
import type { Update } from "./creation";
import { defineLifecycle, type Told } from "./definition";
import type { Context } from "./lifecycle";
import { readsOf } from "./reads";
import { createOnce } from "./reconcile";

/** What the verbs get: checked inputs, the name filled in. */
const filled = z.object({ ...secretInputs.shape, name: z.string() });
type Inputs = z.output<typeof filled>;
type Outputs = z.output<typeof secretOutputs>;

/** The value is never told: what was deployed last is kept. */
const toldBy = ({ name, description }: SecretRecord): Told<Inputs, Outputs> => ({
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
  inputs: secretInputs,
  filled,
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
        told: (found) => toldBy(found).inputs,
        outputs: () => ({ reference: secretReference(name) }),
        change: (id, changes) => update(id, changes, context),
        leftover: { onlyRecent: true, unused: (found, options) => unused(found, context, options) },
      },
      context,
    );
  },

  async read(id, _olds, context) {
    const record = await readsOf(context).secrets.one(id, context);
    return record && toldBy(record);
  },

  update,

  async delete(id, _olds, context) {
    const { management } = context.clients;
    await removeOnce(id, { remove: management.deleteSecret, list: management.listSecrets }, context);
  },
});
