import { defaultMountPath, templateFields as fields, propertyOptions, rule } from "serverless-compute-api/shapes";
import { z } from "zod";
import { computed } from "../../framework/properties/preview-outputs";
import { adoptExisting } from "../adopt-existing";
import { markRule, startArgumentsRule } from "./container-rules";
import { containerDefaults, contentKeys, normalizePorts, revisionOf } from "./revision";
import { toStartText } from "./start-arguments";

const stringList = z.array(z.string());

/** Inputs of a Template resource (interface: Template): the fields of a template, with defaults. */
export const templateInputs = z
  .strictObject({
    ...z.object(fields).partial().shape,
    imageName: fields.imageName,
    containerDiskInGb: fields.containerDiskInGb.default(containerDefaults.containerDiskInGb),
    dockerArgs: fields.dockerArgs
      .default(containerDefaults.dockerArgs)
      .register(propertyOptions, { canonical: (dockerArgs) => toStartText({ dockerArgs }) }),
    dockerEntrypoint: stringList
      .describe(
        "Entrypoint of the container, one argument per item; defaults to the image's. Cannot be combined with dockerArgs.",
      )
      .register(propertyOptions, { foreignSecret: true })
      .default([]),
    dockerStartCmd: stringList
      .describe(
        "Command of the container, one argument per item; defaults to the image's. Cannot be combined with dockerArgs.",
      )
      .register(propertyOptions, { foreignSecret: true })
      .default([]),
    env: fields.env.default(containerDefaults.env),
    ports: fields.ports.default(containerDefaults.ports).register(propertyOptions, { canonical: normalizePorts }),
    readme: fields.readme.default(""),
    volumeMountPath: fields.volumeMountPath.default(defaultMountPath),
    isServerless: fields.isServerless.default(true),
    replaceOnChange: z
      .boolean()
      .describe(
        "Creates a new template, with a random suffix in its name, for each change of the workers' content, instead of changing " +
          "this one. The old one is deleted when no endpoint uses it. Defaults to false.",
      )
      .optional()
      .register(propertyOptions, { notSent: true, suffixesName: true }),
    adoptExisting,
  })
  .check(
    startArgumentsRule,
    markRule,
    rule(["isServerless", "volumeInGb"], ({ isServerless, volumeInGb = 0 }) => !isServerless || volumeInGb === 0, {
      path: "volumeInGb",
      error: "must be 0 when isServerless is true",
    }),
  );

/** Checked inputs with a name, as passed to the operations. */
export const checkedInputs = z.object({ ...templateInputs.shape, name: z.string() });
/** Checked inputs with a name. */
export type Inputs = z.output<typeof checkedInputs>;

/** Inputs that determine the revision. */
const contentShape = checkedInputs.pick(contentKeys);
/** Names of the inputs that determine the revision. */
export const templateContent = contentShape.keyof().options;

/** Outputs of a Template resource. */
export const templateOutputs = z.object({
  revision: z
    .string()
    .describe("Hash of the workers' content: image, arguments, environment, ports, disk and registry credentials.")
    .register(propertyOptions, { secretWith: templateContent })
    .register(computed, {
      dependsOn: templateContent,
      derive: (inputs) => {
        const { data } = contentShape.safeParse(inputs);
        return data && revisionOf(data);
      },
    }),
});
/** Outputs of a Template resource. */
export type Outputs = z.output<typeof templateOutputs>;
