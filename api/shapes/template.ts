import { z } from "zod";
import { containerFields, containerRecord, startArgumentsOf, v2ContainerRecord } from "./container";
import { limits } from "./limits";
import { propertyOptions } from "./property-options";
import { listOf, orDefault, orUndefined, recordId, recordShapes, type Values, v2RecordShape } from "./record-values";

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
  imageName: containerFields.imageName,
  containerDiskInGb: containerFields.containerDiskInGb,
  volumeInGb: z
    .int()
    .min(0)
    .max(limits.number)
    .describe(
      "Size of the pod volume in GB; must be 0 or absent for serverless templates. Removing the property keeps the volume. " +
        "REST v2 cannot remove a volume, so a change to 0 replaces the template.",
    )
    .register(propertyOptions, { v2: "mounts.persistent.size", computedWhenUnset: true, serviceDefault: 0 }),
  dockerArgs: containerFields.dockerArgs,
  env: containerFields.env,
  ports: containerFields.ports,
  readme: z
    .string()
    .describe("Free text about the template. REST v1 only.")
    .register(propertyOptions, { dialect: "v1" }),
  volumeMountPath: z
    .string()
    .describe("Mount path of volumes in the container; with REST v2 only if volumeInGb is more than 0.")
    .register(propertyOptions, { v2: "mounts.persistent.path" }),
  isServerless: z
    .boolean()
    .describe("True for templates of serverless endpoints, false for templates of pods.")
    .register(propertyOptions, { replaceOnChanges: true, v2: "serverless" }),
  containerRegistryAuthId: containerFields.containerRegistryAuthId,
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
