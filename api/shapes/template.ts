import { z } from "zod";
import { limits } from "./limits";

/** Pattern of a port from 1 to 65535 and its protocol. */
export const templatePort = String.raw`(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])\/(?:http|tcp)`;
const portList = new RegExp(String.raw`^${templatePort}(?:\s*,\s*${templatePort})*$`);
const ports = z
  .string()
  .regex(
    portList,
    'a comma-separated list of <port>/http or <port>/tcp with ports from 1 to 65535, such as "8888/http,22/tcp"',
  );

/** The fields of a template: what the inputs of the resource and the bodies of both APIs are made of. */
export const templateFields = {
  name: z.string().min(1).max(limits.nameLength).describe("Name of the template, unique in the account."),
  imageName: z
    .string()
    .min(1)
    .max(limits.imageNameLength)
    .describe("Container image name with tag, for example `ghcr.io/acme/chat:1.4.2`."),
  containerDiskInGb: z.int().min(0).describe("Size of the container disk in GB."),
  volumeInGb: z.int().min(0).describe("Size of the pod volume in GB; 0 for serverless templates."),
  dockerArgs: z.string().describe("Start arguments of the container."),
  env: z
    .record(z.string().min(1), z.string())
    .describe("Environment variables of the workers. A secret is passed as `secret.reference`."),
  ports: ports.or(z.literal("")).describe("Exposed ports: comma-separated `<port>/http` or `<port>/tcp`."),
  readme: z.string().describe("Free text about the template."),
  volumeMountPath: z.string().describe("Mount path of volumes in the container."),
  isServerless: z.boolean().describe("True for templates of serverless endpoints, false for templates of pods."),
  containerRegistryAuthId: z.string().describe("Id of saved registry credentials, for private images."),
};

const envEntries = z.lazy(() => z.array(z.looseObject({ key: z.string(), value: z.string() })));

/** An environment as the REST API has it (a map) or the GraphQL API (a list of entries): always a map here. */
export const envMap = z.lazy(() =>
  z.union([
    z.record(z.string(), z.string()),
    envEntries.transform((entries) => Object.fromEntries(entries.map(({ key, value }) => [key, value]))),
  ]),
);

const orEmpty = z.lazy(() =>
  z
    .string()
    .nullish()
    .transform((value) => value ?? ""),
);
const orZero = z.lazy(() =>
  z
    .number()
    .nullish()
    .transform((value) => value ?? 0),
);

/** A template as either API returns it, brought to one form: env a map, ports one string, absent fields at their defaults. */
export const templateRecord = z.lazy(() =>
  z.looseObject({
    id: z.string(),
    name: z.string(),
    imageName: orEmpty,
    containerDiskInGb: orZero,
    volumeInGb: orZero,
    dockerArgs: orEmpty,
    env: envMap.nullish().transform((value) => value ?? {}),
    ports: z
      .union([z.string(), z.array(z.string()).transform((ports) => ports.join(","))])
      .nullish()
      .transform((value) => value ?? ""),
    readme: orEmpty,
    volumeMountPath: orEmpty,
    isServerless: z
      .boolean()
      .nullish()
      .transform((value) => value ?? false),
    containerRegistryAuthId: z
      .string()
      .nullish()
      .transform((value) => value || undefined),
  }),
);
