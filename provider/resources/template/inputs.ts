import { templateFields as fields } from "serverless-compute-api/shapes";
import { z } from "zod";
import { traits } from "../../lifecycle/properties/traits";
import { adoptExisting } from "../adopt-existing";
import { templateContent } from "./revision";

/** Inputs of a Template resource as people write them (interface: Template). */
export const templateInputs = z
  .strictObject({
    name: fields.name.optional().register(traits, { unique: true }),
    imageName: fields.imageName,
    containerDiskInGb: fields.containerDiskInGb.default(50),
    volumeInGb: fields.volumeInGb.default(0),
    dockerArgs: fields.dockerArgs.default(""),
    env: fields.env.default({}),
    ports: fields.ports.default(""),
    readme: fields.readme.default(""),
    volumeMountPath: fields.volumeMountPath.default("/workspace"),
    isServerless: fields.isServerless.default(true).register(traits, { replaces: true }),
    containerRegistryAuthId: fields.containerRegistryAuthId.optional(),
    adoptExisting,
  })
  .refine((template) => !template.isServerless || template.volumeInGb === 0, {
    path: ["volumeInGb"],
    error: "must be 0 when isServerless is true",
  });

/** The inputs as the verbs get them: checked, the name filled in. */
export const resolvedInputs = z.object({ ...templateInputs.shape, name: z.string() });
export type Inputs = z.output<typeof resolvedInputs>;

/** What a Template resource knows only once it exists. */
export const templateOutputs = z.object({
  revision: z
    .string()
    .describe("Hash of what workers run: image, arguments, environment, ports, disk and registry credentials.")
    .register(traits, { secretWith: templateContent }),
});
export type Outputs = z.output<typeof templateOutputs>;
