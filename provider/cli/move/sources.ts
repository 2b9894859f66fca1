import { z } from "zod";
import { parseUrn } from "../../framework/urn";
import type { ObjectKind } from "../../resources";
import { camelCase } from "../project/identifiers";
import { parseState, type StateResource } from "../state";

/** A resource in the recorded state of another provider. */
export interface RecordedResource {
  /** Its URN or its address. */
  address: string;
  /** Its name in the old program. */
  name: string;
  /** Type in the old provider. */
  type: string;
  /** Undefined if this package has no such resource. */
  kind: ObjectKind | undefined;
  /** The service's id; undefined if the state lacks it. */
  id: string | undefined;
  /** Names of its attributes that have a value other than 0 and false, in camel case. */
  attributes: string[];
}

/** The resources of a provider in a recorded state. */
interface RecordedState {
  resources: RecordedResource[];
  /** Types of ignored resources, one entry per resource. */
  ignoredTypes: string[];
}

const terraformResource = z.looseObject({
  address: z.string(),
  mode: z.string().optional(),
  type: z.string(),
  name: z.string(),
  index: z.union([z.string(), z.number()]).optional(),
  values: z.record(z.string(), z.unknown()),
});
interface TerraformModule {
  resources?: z.output<typeof terraformResource>[] | undefined;
  child_modules?: TerraformModule[] | undefined;
}
const terraformModule: z.ZodType<TerraformModule> = z.lazy(() =>
  z.looseObject({
    resources: z.array(terraformResource).optional(),
    child_modules: z.array(terraformModule).optional(),
  }),
);
const terraformState = z.looseObject({
  format_version: z.string(),
  values: z.looseObject({ root_module: terraformModule }).optional(),
});

const isSet = (value: unknown): boolean =>
  !(
    value === null ||
    value === undefined ||
    value === "" ||
    value === 0 ||
    value === false ||
    (typeof value === "object" && Object.keys(value).length === 0)
  );

const attributeNames = (values: Record<string, unknown> = {}): string[] =>
  Object.entries(values).flatMap(([key, value]) => (isSet(value) ? [camelCase(key)] : []));

/** The resources of a Pulumi provider. `idOf` returns the service's id of a resource. */
function pulumiResources(
  text: string,
  kinds: Record<string, ObjectKind>,
  idOf: (resource: StateResource) => unknown,
): RecordedState {
  const resources = parseState(text).deployment.resources ?? [];
  const ownResources = resources.filter((resource) => resource.type.startsWith("runpod:") && resource.delete !== true);
  const recorded = ownResources.map((resource) => {
    const id = idOf(resource);
    return {
      address: resource.urn,
      name: parseUrn(resource.urn).name,
      type: resource.type,
      kind: kinds[resource.type],
      id: typeof id === "string" && id !== "" ? id : undefined,
      attributes: attributeNames(resource.inputs),
    };
  });
  return { resources: recorded, ignoredTypes: [] };
}

const terraformKinds: Record<string, ObjectKind> = {
  runpod_network_volume: "NetworkVolume",
  runpod_template: "Template",
  // Version 1.x.
  runpod_endpoint: "ServerlessEndpoint",
  runpod_container_registry_auth: "ContainerRegistryAuth",
  // Version 2.x.
  runpod_serverless_endpoint: "ServerlessEndpoint",
  runpod_registry: "ContainerRegistryAuth",
};

function terraformResources(text: string): RecordedState {
  const resourcesIn = ({
    resources = [],
    child_modules: modules = [],
  }: TerraformModule): z.output<typeof terraformResource>[] => [...resources, ...modules.flatMap(resourcesIn)];
  const { values } = terraformState.parse(JSON.parse(text));
  const all = values ? resourcesIn(values.root_module) : [];
  const isOwn = ({ type, mode = "managed" }: z.output<typeof terraformResource>): boolean =>
    type.startsWith("runpod_") && mode === "managed";
  const resources = all.filter(isOwn).map(({ address, type, name, index, values: { id, ...attributes } }) => ({
    address,
    type,
    name: index === undefined ? name : `${name}-${index}`,
    kind: terraformKinds[type],
    id: typeof id === "string" && id !== "" ? id : undefined,
    attributes: attributeNames(attributes),
  }));
  const ignored = all.filter((resource) => !isOwn(resource));
  return { resources, ignoredTypes: ignored.map(({ mode, type }) => (mode === "data" ? `data.${type}` : type)) };
}

/** Types of the native provider, and the output that contains the object. */
const nativeKinds: Record<string, [kind: ObjectKind, output: string]> = {
  "runpod:index:Endpoint": ["ServerlessEndpoint", "endpoint"],
  "runpod:index:Template": ["Template", "template"],
  "runpod:index:NetworkStorage": ["NetworkVolume", "networkStorage"],
};

const objectWithId = z.looseObject({ id: z.string() });

/** Recorded states that can be moved: the command that prints one, and its resources. */
export const sources = {
  "runpod-pulumi": {
    command: "pulumi stack export",
    read: (text: string) =>
      pulumiResources(
        text,
        {
          "runpod:index:Endpoint": "ServerlessEndpoint",
          "runpod:index:Template": "Template",
          "runpod:index:NetworkVolume": "NetworkVolume",
          "runpod:index:Secret": "Secret",
          "runpod:index:ContainerRegistryAuth": "ContainerRegistryAuth",
        },
        ({ id }) => id,
      ),
  },
  "runpod-native": {
    command: "pulumi stack export",
    // The provider uses the names of its resources as their ids.
    read: (text: string) =>
      pulumiResources(
        text,
        Object.fromEntries(Object.entries(nativeKinds).map(([type, [kind]]) => [type, kind])),
        ({ type, outputs }) => objectWithId.safeParse(outputs?.[nativeKinds[type]?.[1] ?? ""]).data?.id,
      ),
  },
  terraform: { command: "terraform show -json", read: terraformResources },
} satisfies Record<string, { command: string; read(text: string): RecordedState }>;

/** Reads a recorded state. Throws an Error with a message for users if it is not one, or if it has no resources of the provider. */
export function readRecorded(source: keyof typeof sources, text: string): RecordedState {
  const { command, read } = sources[source];
  let state: RecordedState;
  try {
    state = read(text);
  } catch (cause) {
    throw new Error(`--from ${source}: the input is not a state of this provider; pass the output of \`${command}\``, {
      cause,
    });
  }
  if (state.resources.length > 0) return state;
  throw new Error(`--from ${source}: the state has no resources of this provider; nothing was written`);
}
