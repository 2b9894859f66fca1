import { jobApiRoot } from "serverless-compute-api/address";
import {
  endpointContainerFields,
  endpointDefaults,
  endpointFields,
  limits,
  propertyOptions,
  restEndpointCreate,
  rule,
  workersRule,
} from "serverless-compute-api/shapes";
import { z } from "zod";
import { computed } from "../../framework/properties/preview-outputs";
import { adoptExisting } from "../adopt-existing";
import { isDefaultExpectation, jobInvokeInputs } from "../job-invoke/inputs";
import { markRule, startArgumentsRule } from "../template/container-rules";
import { endpointRevisionOf, normalizePorts } from "../template/revision";
import { toStartText } from "../template/start-arguments";

const job = jobInvokeInputs.shape;
/** A job or request that a new worker must complete before a create or an update succeeds. */
const verify = z.strictObject({
  input: job.input,
  request: job.request,
  expect: job.expect,
  timeout: z
    .int()
    .min(1)
    .max(7 * 24 * 3600)
    .describe("Time limit of the verification in seconds, including the start of workers of the new version.")
    .default(300),
  attempts: z.int().min(1).max(10).describe("Attempts of a failing job before the verification fails.").default(1),
  policy: job.policy,
  triggers: z
    .array(z.unknown())
    .describe(
      "The verification is repeated if one of these values changes, for example `[template.revision]` of a template that changes in place.",
    )
    .default([]),
});

const stringList = z.array(z.string());
const ofContainer = { dialect: "v2", determinedBy: "templateId", foreignSecret: true } as const;
const { imageName, ...container } = z.object(endpointContainerFields).partial().shape;
/** Inputs with the endpoint's own container. */
const containerInputs = {
  imageName,
  ...container,
  dockerArgs: container.dockerArgs.register(propertyOptions, {
    canonical: (dockerArgs) => toStartText({ dockerArgs }),
  }),
  ports: container.ports.register(propertyOptions, { canonical: normalizePorts }),
  dockerEntrypoint: stringList
    .describe(
      "Entrypoint of the container, one argument per item; defaults to the template's or the image's. Cannot be combined with dockerArgs. REST v2 only.",
    )
    .optional()
    .register(propertyOptions, ofContainer),
  dockerStartCmd: stringList
    .describe(
      "Command of the container, one argument per item; defaults to the template's or the image's. Cannot be combined with dockerArgs. REST v2 only.",
    )
    .optional()
    .register(propertyOptions, ofContainer),
};
const { name, templateId, ...settings } = restEndpointCreate.shape;

/** Inputs of a ServerlessEndpoint resource: the REST API's inputs with its defaults (interface: Endpoint), and the provider's own. */
export const serverlessEndpointInputs = z
  .strictObject({
    name,
    templateId: templateId.optional(),
    ...containerInputs,
    ...settings,
    scalerValue: z
      .number()
      .min(0.5)
      .max(limits.number)
      .describe(
        "Seconds that a job waits before workers are added (QUEUE_DELAY; REST v2 accepts fractions), or jobs per worker (REQUEST_COUNT).",
      )
      .default(endpointDefaults.scalerValue),
    type: endpointFields.type.optional(),
    gpuPools: endpointFields.gpuPools.optional(),
    excludedGpuTypeIds: endpointFields.excludedGpuTypeIds.optional(),
    flashbootType: endpointFields.flashbootType.optional(),
    verify: verify
      .describe(
        "Verification when the endpoint is created and when its template or container changes: a worker of the new version must complete this job or " +
          "request as expected. An update that fails verification is rolled back.",
      )
      .optional()
      .register(propertyOptions, { notSent: true }),
    adoptExisting,
  })
  .check(
    workersRule,
    rule(["templateId", "imageName"], (inputs) => inputs.templateId !== undefined || inputs.imageName !== undefined, {
      path: "imageName",
      error: "is required without templateId",
    }),
    startArgumentsRule,
    markRule,
    rule(
      ["verify", "type"],
      ({ verify: verification, type }) =>
        !verification || (verification.request === undefined) === (type !== "LOAD_BALANCER"),
      {
        path: "verify",
        error: "must have request if type is LOAD_BALANCER, which accepts no jobs, and input otherwise",
      },
    ),
    rule(
      ["verify"],
      ({ verify: verification }) =>
        !verification?.request ||
        (!verification.input && !verification.policy && isDefaultExpectation(verification.expect)),
      {
        path: "verify",
        error: "cannot combine request with input, policy or expect; use request.expect",
      },
    ),
    rule(
      ["verify"],
      ({ verify: verification }) =>
        !verification || verification.request !== undefined || verification.input !== undefined,
      {
        path: "verify",
        error: "must have input, or request if type is LOAD_BALANCER",
      },
    ),
    rule(
      ["scalerType", "scalerValue"],
      ({ scalerType, scalerValue }) => scalerType !== "REQUEST_COUNT" || Number.isInteger(scalerValue),
      { path: "scalerValue", error: "must be a whole number if scalerType is REQUEST_COUNT" },
    ),
    rule(["type", "scalerType"], ({ type, scalerType }) => type !== "LOAD_BALANCER" || scalerType === "REQUEST_COUNT", {
      path: "scalerType",
      error: "must be REQUEST_COUNT if type is LOAD_BALANCER",
    }),
    rule(["flashboot", "flashbootType"], ({ flashboot, flashbootType }) => !flashboot || flashbootType === undefined, {
      path: "flashbootType",
      error: "cannot be combined with flashboot",
    }),
    rule(
      ["gpuTypeIds", "excludedGpuTypeIds"],
      ({ gpuTypeIds, excludedGpuTypeIds }) => gpuTypeIds.length === 0 || !excludedGpuTypeIds?.length,
      { path: "excludedGpuTypeIds", error: "cannot be combined with gpuTypeIds" },
    ),
    rule(["gpuTypeIds", "gpuPools"], ({ gpuTypeIds, gpuPools }) => gpuTypeIds.length === 0 || !gpuPools?.length, {
      path: "gpuPools",
      error: "cannot be combined with gpuTypeIds",
    }),
  );

const contentShape = z.object({ templateId: serverlessEndpointInputs.shape.templateId, ...containerInputs });
/** Names of the inputs that determine the container. */
export const containerKeys: readonly string[] = contentShape.keyof().options;

/** Returns true if an input determines the container. */
export const isContainerKey = (key: string): boolean => containerKeys.includes(key);

/** Checked inputs with a name. */
export const checkedInputs = z.object({
  ...serverlessEndpointInputs.shape,
  name: z.string(),
});
/** Checked inputs with a name. */
export type Inputs = z.output<typeof checkedInputs>;

/** Verification of a new version. */
export type Verify = NonNullable<Inputs["verify"]>;

/** Outputs of a ServerlessEndpoint resource. */
export const serverlessEndpointOutputs = z.object({
  url: z
    .string()
    .describe("Root of the endpoint's job API; the address for requests if type is LOAD_BALANCER.")
    .register(computed, {
      dependsOn: ["type"],
      derive: ({ type }, { id, serverlessUrl }) =>
        type !== "LOAD_BALANCER" && id && serverlessUrl ? jobApiRoot(serverlessUrl, id) : undefined,
    }),
  version: z
    .int()
    .describe(
      "Version of the endpoint, incremented by each change of its template or environment. With REST v2, the version when the resource was created, adopted, imported or last verified.",
    )
    // The service also counts changes of the template, so any response may contain a newer version than the state.
    .register(computed, { dependsOn: checkedInputs.omit({ adoptExisting: true }).keyof().options }),
  revision: z
    .string()
    .describe(
      "Hash of the container: image, arguments, environment, ports, disk, registry credentials and templateId. It does not change with the settings of the template itself.",
    )
    .register(propertyOptions, { secretWith: containerKeys })
    .register(computed, {
      dependsOn: containerKeys,
      derive: (inputs) => {
        const { data } = contentShape.safeParse(inputs);
        return data && endpointRevisionOf(data);
      },
    }),
});
/** Outputs of a ServerlessEndpoint resource. */
export type Outputs = z.output<typeof serverlessEndpointOutputs>;
/** Outputs that do not follow from the inputs. */
export type ServiceOutputs = Pick<Outputs, "url" | "version">;
