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
} from "../functions/look-ups";
import type { Properties } from "../lifecycle/contract";
import { messageOf } from "../lifecycle/failures";
import { secretsAmong } from "../lifecycle/properties/secret-paths";
import { hasUnknown } from "../lifecycle/properties/values";
import type { Host } from "../process/host";
import type { invokeRequest, invokeResponse, Request, Response } from "../protocol/messages";
import { textOf } from "../protocol/structs";

type LookUpContext = Parameters<typeof getTemplate>[1];

const which = (args: Properties): LookUp => {
  const [id, name] = [textOf(args["id"]), textOf(args["name"])];
  if (id !== undefined && name !== undefined) throw new Error("give either the id or the name, not both");
  return id !== undefined ? { id } : { name: name ?? "" };
};

const functions: Record<FunctionName, (args: Properties, context: LookUpContext) => Promise<object>> = {
  getTemplate: (args, context) => getTemplate(which(args), context),
  getServerlessEndpoint: (args, context) => getServerlessEndpoint(which(args), context),
  getNetworkVolume: (args, context) => getNetworkVolume(which(args), context),
  getSecret: (args, context) => getSecret(which(args), context),
  getGpuTypes: (args, context) => getGpuTypes({ pool: textOf(args["pool"]) }, context),
  getDataCenters: (args, context) => getDataCenters({ region: textOf(args["region"]) }, context),
  getEndpointHealth: (args, context) => getEndpointHealth(textOf(args["endpointId"]) ?? "", context),
};

const isFunction = (name: string): name is FunctionName => name in functions;

/** The call by which programs look things up. */
export function lookUpCalls(host: Host) {
  return {
    invoke: async ({ token, args }: Request<typeof invokeRequest>): Promise<Response<typeof invokeResponse>> => {
      const name = token.slice(token.lastIndexOf(":") + 1);
      if (!isFunction(name))
        throw new Error(`unknown function ${token}; this provider has ${Object.keys(functions).join(", ")}`);
      const shape: FunctionShape = functionShapes[name];
      const { properties, secretPaths } = args;
      const mistakes = badArguments(name, shape, properties);
      // Not as failures of the response: programs in Node that get those eat up their memory before they end.
      if (mistakes.length > 0) throw new Error(mistakes.join("; "));
      if (Object.values(properties).some(hasUnknown)) return {};
      const { clock, connect } = host;
      const secrets = secretsAmong([properties], secretPaths);
      const run = (signal: AbortSignal) => {
        const context: LookUpContext = { ...connect(), clock, signal, secrets, progress: () => {} };
        return functions[name](properties, context);
      };
      const found = await host.cancellation.run(run).catch((thrown: unknown) => {
        throw new Error(createRedaction(secrets.values)(messageOf(thrown)));
      });
      // Responses of the service gain fields over time; programs get those that the schema names.
      const outputs = shape.outputs().shape;
      const known = Object.entries(found).filter(([key]) => key in outputs);
      return { return: { properties: Object.fromEntries(known), secretPaths: [] } };
    },
  };
}

function badArguments(name: string, { args, required }: FunctionShape, given: Properties): string[] {
  const unknown = Object.keys(given)
    .filter((key) => !(key in args))
    .map((key) => `${name}: unknown argument "${key}"; expected one of ${Object.keys(args).join(", ")}`);
  const missing = required
    .filter((key) => !hasUnknown(given[key]) && textOf(given[key]) === undefined)
    .map((key) => `${name}: "${key}" is required and must be a string`);
  return [...unknown, ...missing];
}
