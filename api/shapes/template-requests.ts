import { z } from "zod";
import { limits } from "./limits";
import { toV2Names } from "./record-values";
import { cudaVersion, portList, v2Container } from "./serverless-endpoint-requests";
import { defaultMountPath, minPodVolumeSize, plainTemplateFields, templateFields } from "./template";

/** Request bodies of templates in every API; only the local service uses these. */

const settings = z.object(templateFields);

/** Input of the GraphQL mutation saveTemplate, which updates a template if `id` is set and otherwise creates one. */
export const saveTemplateInput = settings
  .omit({ allowedCudaVersions: true })
  .partial()
  .required({ name: true, containerDiskInGb: true, volumeInGb: true, dockerArgs: true })
  .extend({ id: z.string().optional(), env: z.array(z.object({ key: z.string().min(1), value: z.string() })) });

const stringList = z.array(z.string());
/** In REST v1, start arguments are two lists, and ports are a list. */
const restSettings = settings
  .omit({ dockerArgs: true, startSsh: true, startJupyter: true, allowedCudaVersions: true })
  .extend({
    dockerEntrypoint: stringList,
    dockerStartCmd: stringList,
    ports: portList,
  });
const rest = restSettings.shape;

/** Body of POST /templates of REST v1, with the defaults of REST v1. */
export const restTemplateCreate = restSettings.partial().extend({
  name: rest.name,
  imageName: rest.imageName,
  isServerless: rest.isServerless.default(false),
  isPublic: rest.isPublic.default(false),
  category: rest.category.default("NVIDIA"),
  containerDiskInGb: rest.containerDiskInGb.default(limits.containerDiskDefault),
  volumeMountPath: rest.volumeMountPath.default(defaultMountPath),
  ports: rest.ports.default(["8888/http", "22/tcp"]),
  env: rest.env.default({}),
  dockerEntrypoint: stringList.default([]),
  dockerStartCmd: stringList.default([]),
  readme: rest.readme.default(""),
});

/** Body of PATCH /templates/{id} of REST v1: absent fields stay unchanged. Null is not allowed; an empty value clears a field. */
export const restTemplatePatch = restSettings.partial();

/** The volume of a pod; serverless templates have no volume. */
const mounts = z.strictObject({
  persistent: z
    .strictObject({ size: z.int().min(minPodVolumeSize).max(limits.number), path: z.string().min(1) })
    .optional(),
});

/** Body of PATCH /templates/{id} of REST v2. */
export const v2TemplatePatch = z
  .strictObject({
    ...toV2Names(plainTemplateFields, plainTemplateFields),
    ...v2Container,
    mounts,
    allowedCudaVersions: z.array(cudaVersion),
  })
  .partial();

/** Body of POST /templates of REST v2. */
export const v2TemplateCreate = v2TemplatePatch.extend({ name: templateFields.name, image: v2Container.image });
