import { createRedaction } from "serverless-compute-api/redaction";
import { type FunctionName, type FunctionShape, functionShapes } from "../functions/function-shapes";
import {
  getDataCenters,
  getEndpointHealth,
  getGpuTypes,
  getNetworkVolume,
  getSecret,
  getServerlessEndpoint,
  getTemplate,
  type LookUp,
} from "../functions/lookups";
import type { CallContext } from "../lifecycle/calls";
import type { Properties } from "../lifecycle/contract";
import { messageOf } from "../lifecycle/failures";
import { secretsIn } from "../lifecycle/properties/secret-paths";
import { hasUnknown, textOf } from "../lifecycle/properties/values";
import type { Host } from "../process/host";
import type { invokeRequest, invokeResponse, Request, Response } from "../protocol/messages";
import { shortType } from "../verbs/urn";

const lookupOf = (args: Properties): LookUp => {
  const [id, name] = [textOf(args, "id"), textOf(args, "name")];
  if (id !== undefined && name !== undefined) throw new Error("specify either an id or a name, not both");
  return id !== undefined ? { id } : { name: name ?? "" };
};

const functions: Record<FunctionName, (args: Properties, context: CallContext) => Promise<object>> = {
  getTemplate: (args, context) => getTemplate(lookupOf(args), context),
  getServerlessEndpoint: (args, context) => getServerlessEndpoint(lookupOf(args), context),
  getNetworkVolume: (args, context) => getNetworkVolume(lookupOf(args), context),
  getSecret: (args, context) => getSecret(lookupOf(args), context),
  getGpuTypes: (args, context) => getGpuTypes({ pool: textOf(args, "pool") }, context),
  getDataCenters: (args, context) => getDataCenters({ region: textOf(args, "region") }, context),
  getEndpointHealth: (args, context) => getEndpointHealth(textOf(args, "endpointId") ?? "", context),
};

const isFunction = (name: string): name is FunctionName => Object.hasOwn(functions, name);

/** Handler of Invoke, which runs the functions of the package. */
export function lookupCalls(host: Host) {
  return {
    invoke: async ({ token, args }: Request<typeof invokeRequest>): Promise<Response<typeof invokeResponse>> => {
      const name = shortType(token);
      if (!isFunction(name))
        throw new Error(`unknown function ${token}; this provider supports ${Object.keys(functions).join(", ")}`);
      const shape: FunctionShape = functionShapes[name];
      const { properties, secretPaths } = args;
      const errors = argumentErrors(name, shape, properties);
      // Thrown, not returned as failures: a Node program that receives failures runs out of memory before it ends.
      if (errors.length > 0) throw new Error(errors.join("; "));
      if (Object.values(properties).some(hasUnknown)) return {};
      const { clock, connect } = host;
      const secrets = secretsIn([properties], secretPaths);
      const run = (signal: AbortSignal) => {
        const context: CallContext = { ...connect(), clock, signal, secrets, progress: () => {} };
        return functions[name](properties, context);
      };
      const result = await host.cancellation.run(run).catch((thrown: unknown) => {
        throw new Error(createRedaction(secrets.values)(messageOf(thrown)));
      });
      // The service may add response fields; only fields in the schema are returned.
      const outputs = shape.outputs().shape;
      const returnedEntries = Object.entries(result).filter(([key]) => key in outputs);
      return { return: { properties: Object.fromEntries(returnedEntries), secretPaths: [] } };
    },
  };
}

function argumentErrors(name: string, { args, required }: FunctionShape, properties: Properties): string[] {
  const unknownArguments = Object.keys(properties)
    .filter((key) => !Object.hasOwn(args, key))
    .map((key) => `${name}: unknown argument "${key}"; expected one of ${Object.keys(args).join(", ")}`);
  const missingArguments = required
    .filter((key) => !hasUnknown(properties[key]) && textOf(properties, key) === undefined)
    .map((key) => `${name}: "${key}" is required and must be a string`);
  return [...unknownArguments, ...missingArguments];
}
