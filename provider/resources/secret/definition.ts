import type { Dialect, SecretRecord } from "serverless-compute-api";
import {
  secretFields as fields,
  limits,
  propertyOptions,
  reservedSecretName,
  secretMaxBytes,
  secretReference,
} from "serverless-compute-api/shapes";
import { z } from "zod";
import type { Properties } from "../../engine/values";
import { callOptions } from "../../framework/calls";
import type { Context, Failure } from "../../framework/contract";
import type { ObservedObject, Update } from "../../framework/definition";
import { defineObject } from "../../framework/object";
import { computed } from "../../framework/properties/preview-outputs";
import { adoptExisting } from "../adopt-existing";

/** Inputs of a Secret resource in a program (interface: Secret). */
const secretInputs = z.strictObject({
  // Names that at least one dialect accepts; `validate` contains the rules of each dialect.
  name: z
    .string()
    .max(limits.nameLength)
    .regex(/^[A-Za-z0-9_][A-Za-z0-9_.\-/]*$/, "letters, digits, _, ., - and /, starting with a letter, a digit or _")
    .describe(fields.name.description ?? "")
    .optional()
    .register(propertyOptions, { replaceOnChanges: true, unique: true }),
  value: fields.value,
  description: fields.description.default(""),
  adoptExisting,
});

/** Checked inputs with a name, as passed to the operations. */
const checkedInputs = z.object({
  ...secretInputs.shape,
  name: z.string(),
  // The state of an imported secret has no value.
  value: fields.value.optional(),
});
type Inputs = z.output<typeof checkedInputs>;

/** Outputs of a Secret resource. */
const secretOutputs = z.object({
  reference: z
    .string()
    .describe("Reference to the secret's value for a template's env.")
    .register(propertyOptions, { secretWith: ["name"] })
    .register(computed, {
      dependsOn: ["name"],
      derive: ({ name }) => (typeof name === "string" ? secretReference(name) : undefined),
    }),
});
type Outputs = z.output<typeof secretOutputs>;

/** Converts a record. The service never returns the value, so the last deployed value is kept. */
const observe = ({ name, description }: SecretRecord): ObservedObject<Inputs, Outputs> => ({
  inputs: { name, description },
  outputs: {},
});

async function update(
  id: string,
  { news: { value, description }, changed, onApplied }: Update<Inputs>,
  context: Context,
): Promise<Partial<Outputs>> {
  const { management } = context.clients;
  if (value !== undefined && changed("value")) {
    await management.updateSecretValue({ id, value }, callOptions(context));
    onApplied?.();
  }
  if (changed("description")) await management.updateSecretDescription({ id, description }, callOptions(context));
  return {};
}

/** Rules for the names of new secrets, by dialect; an existing secret keeps its name. */
const nameRules: Record<Dialect, [violation: RegExp, reason: string][]> = {
  v1: [[/\//, "must not contain / with REST v1"]],
  v2: [
    [/^\d/, "must start with a letter or _ with REST v2"],
    [reservedSecretName, "must not start with RUNPOD with REST v2"],
  ],
};

function validate(inputs: Properties, dialect: Dialect, olds: Properties): Failure[] {
  const { name } = inputs;
  const rules = typeof name === "string" && name !== olds["name"] ? nameRules[dialect] : [];
  const nameFailures = rules
    .filter(([pattern]) => pattern.test(String(name)))
    .map(([, reason]) => ({ path: "name", reason }));
  if (dialect === "v1") return nameFailures;
  const lengthFailures = Object.entries(secretMaxBytes).flatMap(([path, max]) => {
    const text = inputs[path];
    const bytes = typeof text === "string" ? Buffer.byteLength(text) : 0;
    return bytes > max ? [{ path, reason: `has ${bytes} bytes; must have ${max} bytes or fewer with REST v2` }] : [];
  });
  return [...nameFailures, ...lengthFailures];
}

/**
 * Secret value that a template's env refers to (interface: Secret). The value and the description change in place. A new name
 * replaces the secret, because templates refer to it by name. The value can be written but not read back.
 */
export const secret = defineObject<Inputs, Outputs, SecretRecord>({
  kind: "Secret",
  description: "Sensitive value that templates pass to workers by reference; it cannot be read back.",
  inputs: secretInputs,
  checkedInputs,
  outputs: secretOutputs,
  validate,

  client: (management) => ({
    list: management.listSecrets,
    ...(management.readSecret && { read: management.readSecret }),
    create: async ({ name, value, description }, options) => {
      // The check does not detect replacements that the engine decides on, such as with --target-replace.
      if (value === undefined) throw new Error(`Secret "${name}": value is required for a new secret; set it`);
      return management.createSecret({ name, value, description }, options);
    },
    delete: management.deleteSecret,
  }),
  observe,
  update,
});
