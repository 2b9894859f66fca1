import {
  jobInvokeInputs,
  jobInvokeOutputs,
  marksOf,
  networkVolumeInputs,
  registryAuthInputs,
  secretInputs,
  secretOutputs,
  serverlessEndpointInputs,
  serverlessEndpointOutputs,
  templateInputs,
  templateOutputs,
} from "serverless-compute-api/shapes";
import { z } from "zod";
import { type FunctionShape, functionShapes } from "./functions";
import { type PropertySpec, propertySpec, type TypeSpecs } from "./property-spec";
import { settingSpecs } from "./settings";

const packageName = "serverless-compute";

interface ObjectSpec {
  description: string;
  properties: Record<string, PropertySpec>;
  required: string[];
}

interface ResourceSpec extends ObjectSpec {
  inputProperties: Record<string, PropertySpec>;
  requiredInputs: string[];
}

interface FunctionSpec {
  description: string;
  inputs: { properties: Record<string, PropertySpec>; required?: readonly string[] };
  outputs: { properties: Record<string, PropertySpec>; required: string[] };
}

/** The part of Pulumi's package schema that this package uses. */
export interface PackageSchema {
  name: string;
  displayName: string;
  version: string;
  description: string;
  keywords: string[];
  license: string;
  config: { variables: Record<string, PropertySpec>; defaults: string[] };
  provider: { description: string; inputProperties: Record<string, PropertySpec> };
  types: TypeSpecs;
  resources: Record<string, ResourceSpec>;
  functions: Record<string, FunctionSpec>;
}

interface Noun {
  description: string;
  inputs: z.ZodObject;
  outputs: z.ZodObject;
}

/** The resources in the order of a first program. */
const nouns: Record<string, Noun> = {
  Secret: {
    description: "A sensitive value that templates hand to workers by reference; it is never read back.",
    inputs: secretInputs,
    outputs: secretOutputs,
  },
  NetworkVolume: {
    description: "Storage that outlives workers. It can grow; a move to another data centre is a new, empty volume.",
    inputs: networkVolumeInputs,
    outputs: z.object({}),
  },
  ContainerRegistryAuth: {
    description: "Credentials for private images; a template names them by id. They are never read back.",
    inputs: registryAuthInputs,
    outputs: z.object({}),
  },
  Template: {
    description: "What workers run: image, arguments, environment and disks.",
    inputs: templateInputs,
    outputs: templateOutputs,
  },
  ServerlessEndpoint: {
    description: "Queues jobs and runs them on workers made from a template, as many as the scaling rules ask for.",
    inputs: serverlessEndpointInputs,
    outputs: serverlessEndpointOutputs,
  },
  JobInvoke: {
    description:
      "Runs one job when it is created or its inputs or triggers change; a job that goes wrong fails the deployment.",
    inputs: jobInvokeInputs,
    outputs: jobInvokeOutputs,
  },
};

function properties(
  shape: z.ZodObject,
  io: "input" | "output",
  types: TypeSpecs,
): { specs: Record<string, PropertySpec>; required: string[] } {
  const schema = z.toJSONSchema(shape, { io, unrepresentable: "any" });
  const specs: Record<string, PropertySpec> = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const member = shape.shape[name];
    const marks = member instanceof z.ZodType ? marksOf(member) : {};
    specs[name] = {
      ...propertySpec(property, `${packageName}:index:`, name, types),
      ...(marks.secret ? { secret: true } : {}),
      ...(marks.replaces ? { willReplaceOnChanges: true } : {}),
    };
  }
  return { specs, required: schema.required ?? [] };
}

function resourceSpec({ description, inputs, outputs }: Noun, types: TypeSpecs): ResourceSpec {
  const kept = properties(inputs, "output", types);
  // Nested types are written twice; what users may leave out decides, so the inputs come last.
  const taken = properties(inputs, "input", types);
  const computed = properties(outputs, "output", types);
  const named = "name" in taken.specs ? ["name"] : [];
  return {
    description,
    properties: { ...kept.specs, ...computed.specs },
    required: [...new Set([...named, ...kept.required, ...computed.required])],
    inputProperties: taken.specs,
    requiredInputs: taken.required,
  };
}

function functionSpec({ description, args, required, outputs }: FunctionShape, types: TypeSpecs): FunctionSpec {
  const told = properties(outputs, "output", types);
  const texts = Object.entries(args).map(([name, text]) => [name, { type: "string", description: text }]);
  return {
    description,
    inputs: { properties: Object.fromEntries(texts), ...(required.length > 0 ? { required } : {}) },
    outputs: { properties: told.specs, required: told.required },
  };
}

/** The package schema, made of the shapes and their marks. */
export function packageSchema(version: string): PackageSchema {
  const types: TypeSpecs = {};
  const resources = Object.fromEntries(
    Object.entries(nouns).map(([kind, noun]) => [`${packageName}:index:${kind}`, resourceSpec(noun, types)]),
  );
  const functions = Object.fromEntries(
    Object.entries(functionShapes).map(([name, shape]) => [`${packageName}:index:${name}`, functionSpec(shape, types)]),
  );
  return {
    name: packageName,
    displayName: "Serverless Compute",
    version,
    description: "Serverless GPU endpoints, their templates, volumes, secrets and smoke tests.",
    keywords: ["pulumi", "category/cloud", "serverless", "gpu"],
    license: "Apache-2.0",
    config: { variables: settingSpecs, defaults: [] },
    provider: {
      description: "Which account the resources belong to. Every setting has a fallback in the environment.",
      inputProperties: settingSpecs,
    },
    types,
    resources,
    functions,
  };
}
