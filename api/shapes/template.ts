import { z } from "zod";
import { limits } from "./limits";
import { propertyOptions } from "./property-options";
import { listOf, orDefault, orUndefined, recordId, recordShapes, type Values, v2RecordShape } from "./record-values";

/** Pattern of a port from 1 to 65535 and its protocol. */
export const templatePort = String.raw`(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])\/(?:http|tcp)`;
const ports = z
  .string()
  .regex(
    new RegExp(String.raw`^${templatePort}(?:\s*,\s*${templatePort})*$`),
    'a comma-separated list of <port>/http or <port>/tcp with ports from 1 to 65535, such as "8888/http,22/tcp"',
  );

/** Default mount path of volumes. */
export const defaultMountPath = "/workspace";

/** Minimum size of a pod's volume in REST v2 (GB; contract: TemplateMounts). */
export const minPodVolumeSize = 10;

/**
 * The properties of a template. Inputs, records, request bodies and GraphQL selections use the same names, unless an option or a shape below
 * states a difference.
 */
export const templateFields = {
  name: z
    .string()
    .min(1)
    .max(limits.nameLength)
    .describe("Name of the template, unique in the account.")
    .register(propertyOptions, { unique: true }),
  imageName: z
    .string()
    .min(1)
    .max(limits.imageNameLength)
    .describe("Container image name with tag, for example `ghcr.io/acme/chat:1.4.2`.")
    .register(propertyOptions, { v2: "image" }),
  containerDiskInGb: z
    .int()
    .min(0)
    .max(limits.number)
    .describe("Size of the container disk in GB.")
    .register(propertyOptions, { v2: "disk" }),
  volumeInGb: z
    .int()
    .min(0)
    .max(limits.number)
    .describe(
      "Size of the pod volume in GB; must be 0 or absent for serverless templates. Removing the property keeps the volume. " +
        "REST v2 cannot remove a volume, so a change to 0 replaces the template.",
    )
    .register(propertyOptions, { computedWhenUnset: true, serviceDefault: 0 }),
  dockerArgs: z.string().describe("Start arguments of the container.").register(propertyOptions, { v2: "args" }),
  env: z
    .record(z.string().min(1), z.string())
    .describe("Environment variables of the workers. A secret is passed as `secret.reference`."),
  ports: ports.or(z.literal("")).describe("Exposed ports: comma-separated `<port>/http` or `<port>/tcp`."),
  readme: z
    .string()
    .describe("Free text about the template. REST v1 only.")
    .register(propertyOptions, { dialect: "v1" }),
  volumeMountPath: z
    .string()
    .describe("Mount path of volumes in the container; with REST v2 only if volumeInGb is more than 0."),
  isServerless: z
    .boolean()
    .describe("True for templates of serverless endpoints, false for templates of pods.")
    .register(propertyOptions, { replaceOnChanges: true, v2: "serverless" }),
  containerRegistryAuthId: z
    .string()
    .describe("Id of saved registry credentials, for private images.")
    .register(propertyOptions, { v2: "registry" }),
  startSsh: z
    .boolean()
    .describe("True to start an SSH server; defaults to the service's setting.")
    .register(propertyOptions, { optionalInGraphql: true, computedWhenUnset: true }),
  startJupyter: z
    .boolean()
    .describe("True to start JupyterLab; defaults to the service's setting.")
    .register(propertyOptions, { optionalInGraphql: true, computedWhenUnset: true }),
  isPublic: z
    .boolean()
    .describe("True to let every account use the template; defaults to the service's setting.")
    .register(propertyOptions, { optionalInGraphql: true, computedWhenUnset: true, v2: "public" }),
  category: z
    .enum(["CPU", "NVIDIA", "AMD"])
    .describe("Hardware of the template; defaults to the service's setting.")
    .register(propertyOptions, { optionalInGraphql: true, computedWhenUnset: true }),
  allowedCudaVersions: z
    .array(z.string().min(1))
    .describe("Allowed CUDA versions of pods; any if empty. REST v2 only.")
    .register(propertyOptions, { dialect: "v2", unordered: true }),
};

/** Template properties with the same form in all APIs: all except the container settings and the volume. */
export const plainTemplateFields = z.object(templateFields).omit({
  imageName: true,
  containerDiskInGb: true,
  dockerArgs: true,
  env: true,
  ports: true,
  containerRegistryAuthId: true,
  volumeInGb: true,
  volumeMountPath: true,
}).shape;

/** Settings of a template, independent of the dialect; absent settings stay unchanged, or get the service's default. */
export type TemplateSettings = Omit<Values<typeof templateFields>, "containerRegistryAuthId"> & {
  /** Null for none. */
  containerRegistryAuthId?: string | null | undefined;
};
/** A new template. */
export type TemplateCreate = TemplateSettings & { name: string; imageName: string; containerDiskInGb: number };

/** An environment in REST (a map) or GraphQL (a list of entries), as a map. */
const envMap = z.lazy(() =>
  z.union([
    z.record(z.string(), z.string()),
    z
      .array(z.looseObject({ key: z.string(), value: z.string() }))
      .transform((entries) => Object.fromEntries(entries.map(({ key, value }) => [key, value]))),
  ]),
);

/** Container settings in a record. */
export const containerRecord = () => ({
  imageName: orDefault(z.string(), ""),
  containerDiskInGb: orDefault(z.number(), 0),
  dockerArgs: orDefault(z.string(), ""),
  env: orDefault(envMap, {}),
  ports: orDefault(z.union([z.string(), z.array(z.string()).transform((list) => list.join(","))]), ""),
  containerRegistryAuthId: z
    .string()
    .nullish()
    .transform((id) => id || undefined),
});

/** A template in a response of REST v1 or GraphQL, with env as a map and ports as a string. */
export const templateRecord = z.lazy(() =>
  z.object({
    ...recordShapes(templateFields),
    ...containerRecord(),
    id: recordId,
    name: z.string(),
    volumeInGb: orDefault(z.number(), 0),
    readme: orDefault(z.string(), ""),
    volumeMountPath: orDefault(z.string(), ""),
    isServerless: orDefault(z.boolean(), false),
  }),
);
/** A template, independent of the dialect. */
export type TemplateRecord = z.output<typeof templateRecord> & {
  createdAt?: string | undefined;
  /** Settings that the dialect does not support; their values are meaningless. */
  unknownKeys?: readonly (keyof TemplateSettings)[] | undefined;
};

/** Container settings in a record of REST v2, which may return start arguments only as lists. */
export const v2ContainerRecord = () => ({
  ...containerRecord(),
  entrypoint: listOf(z.string()),
  cmd: listOf(z.string()),
});

/** The start arguments of a REST v2 record as one text. */
export const startArgumentsOf = (record: { dockerArgs: string; entrypoint: string[]; cmd: string[] }): string => {
  const { dockerArgs, entrypoint, cmd } = record;
  return dockerArgs || (entrypoint.length + cmd.length === 0 ? "" : JSON.stringify({ entrypoint, cmd }));
};

/** A template in a response of REST v2, which has no readme, and a mount path only with a volume. */
export const v2TemplateRecord = z.lazy(() =>
  v2RecordShape(
    templateFields,
    z.object({
      ...templateRecord.unwrap().shape,
      ...v2ContainerRecord(),
      mounts: orUndefined(
        z.looseObject({ persistent: orUndefined(z.looseObject({ size: z.number(), path: orUndefined(z.string()) })) }),
      ),
      allowedCudaVersions: listOf(z.string()),
    }),
  ).transform(({ mounts, entrypoint, cmd, dockerArgs, ...record }): TemplateRecord => {
    const { size = 0, path = "" } = mounts?.persistent ?? {};
    return {
      ...record,
      dockerArgs: startArgumentsOf({ dockerArgs, entrypoint, cmd }),
      volumeInGb: size,
      volumeMountPath: path,
      unknownKeys: path ? ["readme"] : ["readme", "volumeMountPath"],
    };
  }),
);

/** Returns the container settings of a template, or of a record with the same fields. */
export const containerOf = (template: Pick<TemplateRecord, keyof ReturnType<typeof containerRecord>>) => ({
  imageName: template.imageName,
  containerDiskInGb: template.containerDiskInGb,
  dockerArgs: template.dockerArgs,
  env: template.env,
  ports: template.ports,
  containerRegistryAuthId: template.containerRegistryAuthId ?? null,
});
/** Container settings of a template or of an endpoint. */
export type ContainerSettings = ReturnType<typeof containerOf>;
