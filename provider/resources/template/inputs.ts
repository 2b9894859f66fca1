import { templateFields as fields, rule } from "serverless-compute-api/shapes";
import { z } from "zod";
import { traits } from "../../lifecycle/properties/traits";
import { adoptExisting } from "../adopt-existing";
import { templateContent } from "./revision";

/** Default mount path of volumes. */
export const usualMountPath = "/workspace";

/** Inputs of a Template resource (interface: Template). */
export const templateInputs = z
  .strictObject({
    name: fields.name.optional().register(traits, { unique: true }),
    imageName: fields.imageName,
    containerDiskInGb: fields.containerDiskInGb.default(50),
    volumeInGb: fields.volumeInGb
      .describe(
        "Size of the pod volume in GB; must be 0 or absent for serverless templates. Removing the property keeps the volume. " +
          "REST v2 cannot remove a volume, so a change to 0 replaces the template.",
      )
      .optional()
      .register(traits, { keptWhenRemoved: true }),
    dockerArgs: fields.dockerArgs.default(""),
    dockerEntrypoint: z
      .array(z.string())
      .describe(
        "Entrypoint of the container, word by word; the image's own if empty. Cannot be combined with dockerArgs.",
      )
      .default([]),
    dockerStartCmd: z
      .array(z.string())
      .describe("Command of the container, word by word; the image's own if empty. Cannot be combined with dockerArgs.")
      .default([]),
    env: fields.env.default({}),
    ports: fields.ports.default(""),
    readme: fields.readme
      .describe("Free text about the template. REST v1 only.")
      .default("")
      .register(traits, { dialect: "v1" }),
    volumeMountPath: fields.volumeMountPath
      .describe("Mount path of volumes in the container; with REST v2 only if volumeInGb is more than 0.")
      .default(usualMountPath),
    isServerless: fields.isServerless.default(true).register(traits, { replaces: true }),
    containerRegistryAuthId: fields.containerRegistryAuthId.optional(),
    startSsh: z
      .boolean()
      .describe("True to start an SSH server; defaults to the service's setting.")
      .optional()
      .register(traits, { keptWhenRemoved: true }),
    startJupyter: z
      .boolean()
      .describe("True to start JupyterLab; defaults to the service's setting.")
      .optional()
      .register(traits, { keptWhenRemoved: true }),
    isPublic: z
      .boolean()
      .describe("True to let every account use the template; defaults to the service's setting.")
      .optional()
      .register(traits, { keptWhenRemoved: true }),
    category: z
      .enum(["CPU", "NVIDIA", "AMD"])
      .describe("Hardware that the template is for; defaults to the service's setting.")
      .optional()
      .register(traits, { keptWhenRemoved: true }),
    allowedCudaVersions: z
      .array(z.string().min(1))
      .describe("CUDA versions that its workers may have, for pods; any when empty. REST v2 only.")
      .optional()
      .register(traits, { dialect: "v2", unordered: true }),
    replaceOnChange: z
      .boolean()
      .describe(
        "Whether each change of the workers' content creates a new template, whose name ends in a random suffix, instead of changing " +
          "this one. The old one is deleted when no endpoint uses it. Defaults to false.",
      )
      .optional()
      .register(traits, { stateOnly: true }),
    adoptExisting,
  })
  .check(
    rule(
      ["dockerArgs", "dockerEntrypoint", "dockerStartCmd"],
      ({ dockerArgs, dockerEntrypoint, dockerStartCmd }) =>
        dockerArgs === "" || dockerEntrypoint.length + dockerStartCmd.length === 0,
      { path: "dockerArgs", error: "cannot be combined with dockerEntrypoint or dockerStartCmd" },
    ),
    rule(["isServerless", "volumeInGb"], ({ isServerless, volumeInGb = 0 }) => !isServerless || volumeInGb === 0, {
      path: "volumeInGb",
      error: "must be 0 when isServerless is true",
    }),
  );

/** The inputs as the verbs get them: checked, the name filled in. */
export const resolvedInputs = z.object({ ...templateInputs.shape, name: z.string() });
export type Inputs = z.output<typeof resolvedInputs>;

/** Outputs of a Template resource. */
export const templateOutputs = z.object({
  revision: z
    .string()
    .describe("Hash of what workers run: image, arguments, environment, ports, disk and registry credentials.")
    .register(traits, { secretWith: templateContent }),
});
export type Outputs = z.output<typeof templateOutputs>;
