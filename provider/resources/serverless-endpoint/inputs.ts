import { endpointDefaults, endpointFields, restEndpointCreate, rule, traits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { adoptExisting } from "../adopt-existing";
import { isPlain, jobInvokeInputs } from "../job-invoke/inputs";

const job = jobInvokeInputs.shape;
/** A job or request that new workers have to do well before a create or an update succeeds. */
const verify = z.strictObject({
  input: job.input,
  request: job.request,
  expect: job.expect,
  timeout: z
    .int()
    .min(1)
    .max(7 * 24 * 3600)
    .describe("Seconds for the whole verification: workers of the new version start, take the job and finish it.")
    .default(300),
  attempts: z
    .int()
    .min(1)
    .max(10)
    .describe("Attempts of a failing job before the version counts as broken.")
    .default(1),
  policy: job.policy,
  triggers: z
    .array(z.unknown())
    .describe(
      "Values whose change verifies again, for example `[template.revision]` of a template that changes in place.",
    )
    .default([]),
});

/** Inputs of a ServerlessEndpoint resource as people write them: the REST API's own, with its defaults (interface: Endpoint). */
export const serverlessEndpointInputs = restEndpointCreate
  .safeExtend({
    scalerValue: z
      .number()
      .min(0.5)
      .describe(
        "Seconds that a job waits before workers are added (QUEUE_DELAY; REST v2 accepts fractions), or jobs per worker (REQUEST_COUNT).",
      )
      .default(endpointDefaults.scalerValue),
    type: endpointFields.type.optional(),
    excludedGpuTypeIds: endpointFields.excludedGpuTypeIds.optional(),
    flashbootType: endpointFields.flashbootType.optional(),
    verify: verify
      .describe(
        "Job or request that workers of the new version have to do as expected when the endpoint is made and when its template changes: " +
          "an update that fails it is set back.",
      )
      .optional()
      .register(traits, { stateOnly: true }),
    adoptExisting,
  })
  .check(
    rule(
      ["verify", "type"],
      ({ verify: work, type }) => !work || (work.request === undefined) === (type !== "LOAD_BALANCER"),
      { path: "verify", error: "must have request if type is LOAD_BALANCER, which takes no jobs, and input otherwise" },
    ),
    rule(["verify"], ({ verify: work }) => !work?.request || (!work.input && !work.policy && isPlain(work.expect)), {
      path: "verify",
      error: "must not have input, policy or expect beside request; use request.expect",
    }),
    rule(["verify"], ({ verify: work }) => !work || work.request !== undefined || work.input !== undefined, {
      path: "verify",
      error: "must have input, or request if type is LOAD_BALANCER",
    }),
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
      error: "must not be set beside flashboot",
    }),
    rule(
      ["gpuTypeIds", "excludedGpuTypeIds"],
      ({ gpuTypeIds, excludedGpuTypeIds }) => gpuTypeIds.length === 0 || !excludedGpuTypeIds?.length,
      { path: "excludedGpuTypeIds", error: "must not be set beside gpuTypeIds" },
    ),
  )
  .strict();

/** The inputs as the verbs get them: checked, the name filled in. */
export const resolvedInputs = z.object({ ...serverlessEndpointInputs.shape, name: z.string() });
export type Inputs = z.output<typeof resolvedInputs>;

/** Verification of a new version. */
export type Verify = NonNullable<Inputs["verify"]>;

/** Outputs of a ServerlessEndpoint resource. */
export const serverlessEndpointOutputs = z.object({
  url: z.string().describe("Root of the endpoint's job API; of a LOAD_BALANCER the address that takes its requests."),
  version: z
    .int()
    .describe(
      "Counts the changes of its template and environment; with REST v2, its value when the resource was created, adopted or imported.",
    ),
});
export type Outputs = z.output<typeof serverlessEndpointOutputs>;
