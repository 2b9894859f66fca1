import { createRedaction } from "serverless-compute-api/redaction";
import { messageOf } from "../engine/error-text";
import type { invokeRequest, invokeResponse, Request, Response } from "../engine/messages";
import { hasUnknown, type Properties, stringAt, toProperties } from "../engine/values";
import type { CallContext } from "../framework/calls";
import type { ProviderProcess } from "../framework/process";
import { secretsIn } from "../framework/properties/secret-paths";
import { shortType } from "../framework/urn";
import { functions } from "../functions/functions";
import type { FunctionDefinition } from "../functions/lookup";

const isFunction = (name: string): name is keyof typeof functions => Object.hasOwn(functions, name);

/** Handler of Invoke, which runs the functions of the package. */
export function lookupCalls(providerProcess: ProviderProcess) {
  return {
    invoke: async ({ token, args }: Request<typeof invokeRequest>): Promise<Response<typeof invokeResponse>> => {
      const name = shortType(token);
      if (!isFunction(name))
        throw new Error(`unknown function ${token}; this provider supports ${Object.keys(functions).join(", ")}`);
      const definition: FunctionDefinition = functions[name];
      const { properties, secretPaths } = args;
      const errors = argumentErrors(name, definition, properties);
      // Thrown, not returned as failures: a Node program that receives failures runs out of memory before it ends.
      if (errors.length > 0) throw new Error(errors.join("; "));
      if (Object.values(properties).some(hasUnknown)) return {};
      const { clock, connect } = providerProcess;
      const secrets = secretsIn([properties], secretPaths);
      const texts = Object.fromEntries(Object.keys(properties).map((key) => [key, stringAt(properties, key)]));
      const run = (signal: AbortSignal) => {
        const context: CallContext = { ...connect(), clock, signal, secrets, progress: () => {} };
        return definition.run(texts, context);
      };
      const result = await providerProcess.cancellation.run(run).catch((thrown: unknown) => {
        throw new Error(createRedaction(secrets.values)(messageOf(thrown)));
      });
      // The service may add response fields; only fields in the schema are returned.
      const outputs = definition.outputs().shape;
      const returnedEntries = Object.entries(result).filter(([key]) => key in outputs);
      return { return: { properties: toProperties(Object.fromEntries(returnedEntries)), secretPaths: [] } };
    },
  };
}

function argumentErrors(name: string, { args, required }: FunctionDefinition, properties: Properties): string[] {
  const unknownArguments = Object.keys(properties)
    .filter((key) => !Object.hasOwn(args, key))
    .map((key) => `${name}: unknown argument "${key}"; expected one of ${Object.keys(args).join(", ")}`);
  const invalidArguments = Object.keys(args).flatMap((key) => {
    const value = properties[key] ?? undefined;
    if (hasUnknown(value) || typeof value === "string") return [];
    if (value === undefined) return required.includes(key) ? [`${name}: "${key}" is required`] : [];
    return [`${name}: "${key}" must be a string`];
  });
  return [...unknownArguments, ...invalidArguments];
}
