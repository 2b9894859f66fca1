import { optionsOf } from "serverless-compute-api/shapes";
import { z } from "zod";
import type { ResourceSchemas } from "../../../provider/framework/definition";
import { functions, listInputs } from "../../../provider/functions/functions";
import type { FunctionDefinition } from "../../../provider/functions/lookup";
import { isObjectKind, kinds } from "../../../provider/resources";
import {
  verifiedEndpointDescription,
  verifiedEndpointInputs,
  verifiedEndpointOutputs,
} from "../../../provider/resources/verified-endpoint/inputs";
import { type SettingRule, settingNames, settingTable } from "../../../provider/settings/setting-table";
import { type Publisher, publishedAt, type SdkNames, sdkNames } from "../../publisher.mjs";
import { catalogue } from "./examples/catalogue";
import type { Vocabulary } from "./examples/typed-program";
import { usage } from "./examples/usage";
import { languages } from "./languages";
import { type PropertySpec, propertySpec, type TypeSpecs } from "./property-spec";

const packageName = "serverless-compute";

interface ObjectSpec {
  description: string;
  properties: Record<string, PropertySpec>;
  required: string[];
}

interface ResourceSpec extends ObjectSpec {
  inputProperties: Record<string, PropertySpec>;
  requiredInputs: string[];
  isComponent?: true;
  /** Filters of the list of objects; absent if objects cannot be listed. */
  listInputs?: { type: "object"; properties: Record<string, PropertySpec> };
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
  publisher?: string;
  homepage?: string;
  repository?: string;
  logoUrl?: string;
  pluginDownloadURL?: string;
  config: { variables: Record<string, PropertySpec>; defaults: string[] };
  provider: { description: string; inputProperties: Record<string, PropertySpec> };
  types: TypeSpecs;
  resources: Record<string, ResourceSpec>;
  functions: Record<string, FunctionSpec>;
  language: Record<string, object>;
}

const tokenOf = (member: string): string => `${packageName}:index:${member}`;

/** The environment variable and the default of a setting. */
const settingSources = ({ variable, defaultValue }: SettingRule): string =>
  defaultValue === undefined
    ? `Environment variable: \`${variable}\`.`
    : `Environment variable: \`${variable}\`. Default: \`${defaultValue}\`.`;

const settingSpec = (rule: SettingRule): PropertySpec => ({
  type: rule.type,
  description: `${rule.description} ${settingSources(rule)}`,
  ...(rule.defaultValue === undefined ? {} : { default: rule.defaultValue }),
  ...(rule.secret ? { secret: true } : { defaultInfo: { environment: [rule.variable] } }),
});

/**
 * The settings of the package. A generated SDK writes defaults and environment variables into the provider's arguments, and thus into
 * state. The key has neither, so that a key from the environment is never stored; the plugin reads it instead.
 */
const settingSpecs: Record<string, PropertySpec> = Object.fromEntries(
  settingNames.map((name) => [name, settingSpec(settingTable[name])]),
);

/** The properties of a shape. Nested types are added to `types` under names that begin with `owner`. */
function properties(
  shape: z.ZodObject,
  io: "input" | "output",
  owner: string,
  types: TypeSpecs,
): { specs: Record<string, PropertySpec>; required: string[] } {
  const schema = z.toJSONSchema(shape, {
    io,
    unrepresentable: "any",
    // Defaults apply to omitted inputs and are meaningless in outputs.
    override: ({ jsonSchema }) => {
      if (io === "output") delete jsonSchema.default;
    },
  });
  const specs: Record<string, PropertySpec> = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const member = shape.shape[name];
    const options = member ? optionsOf(member) : {};
    const spec = propertySpec(property, tokenOf(owner), name, types);
    specs[name] = {
      ...spec,
      ...(options.secret ? { secret: true } : {}),
      ...(options.replaceOnChanges === true ? { willReplaceOnChanges: true } : {}),
      // The schema cannot express a replacement in only one version of REST.
      ...(typeof options.replaceOnChanges === "string"
        ? { description: `${spec.description} With REST ${options.replaceOnChanges} a change replaces the resource.` }
        : {}),
    };
  }
  return { specs, required: schema.required ?? [] };
}

function resourceSpec(kind: string, { description, inputs, outputs }: ResourceSchemas, types: TypeSpecs): ResourceSpec {
  const stored = properties(inputs, "output", kind, types);
  // Nested types are written twice. The inputs come last, so that their optional properties apply.
  const accepted = properties(inputs, "input", kind, types);
  const computed = properties(outputs, "output", kind, types);
  const nameProperty = "name" in accepted.specs ? ["name"] : [];
  return {
    description,
    properties: { ...stored.specs, ...computed.specs },
    required: [...new Set([...nameProperty, ...stored.required, ...computed.required])],
    inputProperties: accepted.specs,
    requiredInputs: accepted.required,
    ...(isObjectKind(kind) ? { listInputs: { type: "object", properties: textSpecs(listInputs) } } : {}),
  };
}

/** Optional string properties with descriptions. */
const textSpecs = (texts: Record<string, string>): Record<string, PropertySpec> =>
  Object.fromEntries(Object.entries(texts).map(([name, description]) => [name, { type: "string", description }]));

/** The component. Its inputs contain inputs of its resources, which become nested types. */
function verifiedEndpointSpec(resources: Record<string, ResourceSpec>, types: TypeSpecs): ResourceSpec {
  const { template, endpoint, verify } = verifiedEndpointInputs.shape;
  const nestedInputs = (name: string, kind: string, shape: z.ZodObject): PropertySpec => {
    const { description = "" } = shape;
    const { inputProperties = {}, requiredInputs = [] } = resources[kind] ?? {};
    const isOwn = (key: string): boolean => key in shape.shape;
    const token = tokenOf(`VerifiedEndpoint${name}`);
    types[token] = {
      type: "object",
      description,
      properties: Object.fromEntries(Object.entries(inputProperties).filter(([key]) => isOwn(key))),
      required: requiredInputs.filter(isOwn),
    };
    return { $ref: `#/types/${token}`, description };
  };
  const outputs = properties(verifiedEndpointOutputs, "output", "VerifiedEndpoint", types);
  return {
    isComponent: true,
    description: verifiedEndpointDescription,
    properties: outputs.specs,
    required: outputs.required,
    inputProperties: {
      template: nestedInputs("Template", "Template", template.unwrap()),
      endpoint: nestedInputs("Endpoint", "ServerlessEndpoint", endpoint.unwrap()),
      verify: { ...resources["ServerlessEndpoint"]?.inputProperties["verify"], description: verify.description ?? "" },
    },
    requiredInputs: ["verify"],
  };
}

function functionSpec(
  name: string,
  { description, args, required, outputs }: FunctionDefinition,
  types: TypeSpecs,
): FunctionSpec {
  const results = properties(outputs(), "output", name.replace(/^get/, ""), types);
  return {
    description,
    inputs: { properties: textSpecs(args), ...(required.length > 0 ? { required } : {}) },
    outputs: { properties: results.specs, required: results.required },
  };
}

/** The table with the examples of each member at the end of its description. */
function withExamples<Spec extends { description: string }>(
  specs: Record<string, Spec>,
  vocabulary: Vocabulary,
  names: SdkNames,
): Record<string, Spec> {
  return Object.fromEntries(
    Object.entries(specs).map(([member, spec]) => {
      const examples = catalogue[member];
      return [
        tokenOf(member),
        examples ? { ...spec, description: spec.description + usage(examples, vocabulary, names) } : spec,
      ];
    }),
  );
}

/** The package schema, generated from the shapes and their property options. */
export function packageSchema(version: string, publisher: Publisher): PackageSchema {
  const names = sdkNames(publisher);
  const types: TypeSpecs = {};
  const resources: Record<string, ResourceSpec> = Object.fromEntries(
    Object.entries(kinds).map(([kind, resource]) => [kind, resourceSpec(kind, resource, types)]),
  );
  resources["VerifiedEndpoint"] = verifiedEndpointSpec(resources, types);
  const functionSpecs = Object.fromEntries(
    Object.entries(functions).map(([name, shape]) => [name, functionSpec(name, shape, types)]),
  );
  const vocabulary: Vocabulary = {
    types,
    args: (member) => resources[member]?.inputProperties ?? functionSpecs[member]?.inputs.properties ?? {},
  };
  return {
    name: packageName,
    displayName: "Serverless Compute",
    version,
    description: "Serverless GPU endpoints, their templates, volumes, secrets and smoke tests.",
    keywords: ["pulumi", "category/cloud", "kind/native", "serverless", "gpu", "inference"],
    license: "Apache-2.0",
    ...publishedAt(publisher),
    config: { variables: settingSpecs, defaults: [] },
    provider: {
      description: "The service and the account of the resources. Every setting can also be set in the environment.",
      inputProperties: settingSpecs,
    },
    types,
    resources: withExamples(resources, vocabulary, names),
    functions: withExamples(functionSpecs, vocabulary, names),
    language: languages(names),
  };
}
