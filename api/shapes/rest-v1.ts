import { z } from "zod";
import { networkVolumeFields } from "./network-volume";
import { secretFields, secretValue } from "./secret";
import { endpointFields } from "./serverless-endpoint";
import { templateFields, templatePort } from "./template";

/** Request shapes of REST v1 and GraphQL, used only by the local service. */

const ports = z.array(
  z
    .string()
    .regex(
      new RegExp(`^${templatePort}$`),
      '<port>/http or <port>/tcp with a port from 1 to 65535, such as "8888/http"',
    ),
);

/** Variables of the GraphQL mutation saveTemplate: with `id` it updates, without it creates. */
export const saveTemplateInput = z.object({
  id: z.string().optional(),
  ...templateFields,
  imageName: templateFields.imageName.optional(),
  env: z.array(z.object({ key: z.string().min(1), value: z.string() })),
  ports: templateFields.ports.optional(),
  readme: templateFields.readme.optional(),
  volumeMountPath: templateFields.volumeMountPath.optional(),
  isServerless: templateFields.isServerless.optional(),
  containerRegistryAuthId: templateFields.containerRegistryAuthId.optional(),
});
export type SaveTemplateInput = z.output<typeof saveTemplateInput>;

/** Body of POST /templates of the REST API, with its own defaults. */
export const restTemplateCreate = z.object({
  name: templateFields.name,
  imageName: templateFields.imageName,
  isServerless: templateFields.isServerless.default(false),
  isPublic: z.boolean().default(false),
  category: z.enum(["NVIDIA", "AMD", "CPU"]).default("NVIDIA"),
  containerDiskInGb: templateFields.containerDiskInGb.default(50),
  volumeInGb: templateFields.volumeInGb.optional(),
  volumeMountPath: templateFields.volumeMountPath.default("/workspace"),
  ports: ports.default(["8888/http", "22/tcp"]),
  env: templateFields.env.default({}),
  dockerEntrypoint: z.array(z.string()).default([]),
  dockerStartCmd: z.array(z.string()).default([]),
  readme: templateFields.readme.default(""),
  containerRegistryAuthId: templateFields.containerRegistryAuthId.optional(),
});

/** Body of PATCH /templates/{id}: what is left out stays, null clears an optional field. */
export const restTemplatePatch = z
  .object({
    ...templateFields,
    isPublic: z.boolean(),
    category: z.enum(["NVIDIA", "AMD", "CPU"]),
    volumeMountPath: templateFields.volumeMountPath.nullable(),
    ports: ports.nullable(),
    env: templateFields.env.nullable(),
    dockerEntrypoint: z.array(z.string()).nullable(),
    dockerStartCmd: z.array(z.string()).nullable(),
    readme: templateFields.readme.nullable(),
    containerRegistryAuthId: templateFields.containerRegistryAuthId.nullable(),
  })
  .partial();

const { computeType: _never, ...patchable } = endpointFields;
/** Body of PATCH /endpoints/{id}: any field but computeType. It has no null: an empty text clears a field. */
export const restEndpointPatch = z.object(patchable).partial();

/** Body of POST /networkvolumes. */
export const restNetworkVolumeCreate = z.object({ ...networkVolumeFields, size: z.int().min(0).max(4000) });

/** Body of PATCH /networkvolumes/{id}. */
export const restNetworkVolumePatch = restNetworkVolumeCreate.omit({ dataCenterId: true }).partial();

/** Input of the GraphQL mutation secretCreate. */
export const secretCreateInput = z.object({
  ...secretFields,
  value: secretValue,
  description: secretFields.description.nullish(),
});
/** Input of the GraphQL mutation secretValueUpdate. */
export const secretValueInput = z.object({ id: z.string(), value: secretValue });
export type SecretCreateInput = z.output<typeof secretCreateInput>;
