import { z } from "zod";
import { limits } from "./limits";
import { propertyOptions } from "./property-options";
import { listOf, optionalObjectId, orDefault } from "./record-values";

/** The container of workers: properties of a template, and of an endpoint with its own container. */

/** Pattern of a port from 1 to 65535 and its protocol. */
export const templatePort = String.raw`(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])\/(?:http|tcp)`;
const ports = z
  .string()
  .regex(
    new RegExp(String.raw`^${templatePort}(?:\s*,\s*${templatePort})*$`),
    'a comma-separated list of <port>/http or <port>/tcp with ports from 1 to 65535, such as "8888/http,22/tcp"',
  );

/** The properties of a container. */
export const containerFields = {
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
  dockerArgs: z
    .string()
    .describe("Start arguments of the container.")
    .register(propertyOptions, { v2: "args", foreignSecret: true }),
  env: z
    .record(z.string().min(1), z.string())
    .describe("Environment variables of the workers. A secret is passed as `secret.reference`.")
    .register(propertyOptions, { holdsVariables: true, foreignSecret: true }),
  ports: ports.or(z.literal("")).describe("Exposed ports: comma-separated `<port>/http` or `<port>/tcp`."),
  containerRegistryAuthId: optionalObjectId
    .describe("Id of saved registry credentials, for private images.")
    .register(propertyOptions, { v2: "registry" }),
};

/** Options of an endpoint's own container settings. */
const ofContainer = { dialect: "v2", determinedBy: "templateId" } as const;
const omittedContainer = "Defaults to the template's. REST v2 only.";

/** The own container of an endpoint: the properties of {@link containerFields} that override those of its template. */
export const endpointContainerFields = {
  imageName: containerFields.imageName
    .describe(
      "Container image with tag, for example `ghcr.io/acme/chat:1.4.2`. Required if templateId is not set, and defaults to the template's. REST v2 only.",
    )
    .register(propertyOptions, ofContainer),
  containerDiskInGb: z
    .int()
    .min(1)
    .max(limits.number)
    .describe(
      `Size of the container disk in GB. Defaults to the template's, or to ${limits.containerDiskDefault}. REST v2 only.`,
    )
    .register(propertyOptions, {
      ...ofContainer,
      v2: "disk",
      reportedWhenUnset: [],
      serviceDefault: limits.containerDiskDefault,
    }),
  dockerArgs: containerFields.dockerArgs
    .describe(`Start arguments of the container. ${omittedContainer}`)
    .register(propertyOptions, ofContainer),
  env: containerFields.env
    .describe(
      "Environment variables of the workers, in addition to the template's; the same key overrides it. A secret is passed as `secret.reference`. REST v2 only.",
    )
    .register(propertyOptions, ofContainer),
  ports: containerFields.ports
    .describe(`Exposed ports: comma-separated \`<port>/http\` or \`<port>/tcp\`. ${omittedContainer}`)
    .register(propertyOptions, ofContainer),
  containerRegistryAuthId: containerFields.containerRegistryAuthId
    .describe(`Id of saved registry credentials, for private images. ${omittedContainer}`)
    .register(propertyOptions, ofContainer),
};

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

/** The part of a record that describes a container. */
interface ContainerRecord {
  imageName: string;
  containerDiskInGb: number;
  dockerArgs: string;
  env: Record<string, string>;
  ports: string;
  containerRegistryAuthId?: string | null | undefined;
}

/** Returns the container settings of a template, or of a record with the same fields. */
export const containerOf = (template: ContainerRecord) => ({
  imageName: template.imageName,
  containerDiskInGb: template.containerDiskInGb,
  dockerArgs: template.dockerArgs,
  env: template.env,
  ports: template.ports,
  containerRegistryAuthId: template.containerRegistryAuthId ?? null,
});
/** Container settings of a template or of an endpoint. */
export type ContainerSettings = ReturnType<typeof containerOf>;

/** Container settings of an endpoint that override those of its template. Variables are merged; null means no credentials. */
export type OwnContainer = { [Key in keyof ContainerSettings]?: ContainerSettings[Key] | undefined };

/** The container settings among others, without absent ones. */
export function ownContainerIn(settings: OwnContainer): Partial<ContainerSettings> {
  return Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => value !== undefined && Object.hasOwn(containerFields, name)),
  );
}

/** A template's container settings with an endpoint's own ones; variables are merged. */
export const withOwnSettings = (template: ContainerSettings, own: OwnContainer = {}): ContainerSettings => ({
  ...template,
  ...ownContainerIn(own),
  env: { ...template.env, ...own.env },
});

type Variables = Readonly<Record<string, string>>;

/**
 * The variables of the service with the changes of an update. The others may have other values on purpose, such as those that the program
 * ignores.
 */
export const withChangedVariables = (
  actual: Variables,
  news: Variables,
  isChanged: (name: string) => boolean,
): Record<string, string> =>
  Object.fromEntries([
    ...Object.entries(actual).filter(([name]) => !isChanged(name)),
    ...Object.entries(news).filter(([name]) => isChanged(name)),
  ]);
