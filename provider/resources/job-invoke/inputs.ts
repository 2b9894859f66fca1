import type { JobRecord } from "serverless-compute-api";
import {
  finalStatus,
  jobInput,
  jobPolicy,
  jobS3Config,
  jobStatus,
  jobWebhook,
  objectId,
  propertyOptions,
  rule,
} from "serverless-compute-api/shapes";
import { z } from "zod";
import { toProperties } from "../../engine/values";
import { checkInputs } from "../../framework/properties/check";
import { withoutOmitted } from "../../framework/properties/defaults";
import { computed } from "../../framework/properties/preview-outputs";

/** HTTP request to an endpoint of type LOAD_BALANCER, instead of a job. */
const request = z
  .strictObject({
    path: z
      .string()
      .regex(/^\/\S*$/, "a path that begins with / and contains no whitespace")
      .describe("Path and query string, relative to the endpoint's url."),
    method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).describe("Method of the request.").default("GET"),
    body: z.unknown().describe("Body, sent as JSON.").optional(),
    expect: z
      .strictObject({
        status: z.int().min(200).max(599).describe("HTTP status of the response.").default(200),
        body: z
          .unknown()
          .describe(
            "Expected JSON body: objects match partially, everything else exactly. A number that is text in `output` is expected as text.",
          )
          .optional(),
      })
      .describe("Criteria for success.")
      .default({ status: 200 }),
  })
  .describe(
    "HTTP request to an endpoint of type LOAD_BALANCER, sent instead of a job. The response must be as expected.",
  );
/** Checked HTTP request of a JobInvoke. */
export type RequestSpec = z.output<typeof request>;

const uncheckedInputs = z.strictObject({
  endpointId: objectId.describe("Id of the endpoint that runs the job."),
  input: jobInput
    .describe(
      "Input of the handler; required unless `request` is set. The hosted service delivers a job with an empty input without `input`.",
    )
    .optional(),
  request: request.optional(),
  mode: z
    .enum(["async", "sync"])
    .describe("`async` submits the job with /run and polls /status; `sync` submits it with /runsync.")
    .default("async"),
  policy: jobPolicy.describe("Per-job timeouts and priority.").optional(),
  webhook: jobWebhook.describe("Address to which the service sends the job's result when the job ends.").optional(),
  s3Config: jobS3Config
    .describe("Storage for the worker's code, which receives it with the job.")
    .optional()
    .register(propertyOptions, { secret: true }),
  timeout: z
    .int()
    .min(1)
    .max(7 * 24 * 3600)
    .describe("Time limit of the job in seconds, including queueing and worker start; afterwards the job is cancelled.")
    .default(300),
  triggers: z
    .array(z.unknown())
    .describe("The job runs again if one of these values changes, for example `[endpoint.revision]`.")
    .default([]),
  expect: z
    .strictObject({
      status: finalStatus.describe("Final state that the job must reach.").default("COMPLETED"),
      output: z
        .unknown()
        .describe(
          "Expected output: objects match partially, everything else exactly. A number that is text in `output` is expected as text.",
        )
        .optional(),
    })
    .describe("Criteria for success.")
    .default({ status: "COMPLETED" }),
  storeOutput: z
    .boolean()
    .describe(
      "True to store the output in the state. If false, `outputSha256` and `outputSize` replace it; `expect` still applies to the output.",
    )
    .default(true),
});

/** Errors for invalid combinations of properties. */
const exactlyOneError = { path: "input", error: "exactly one of input and request is required" } as const;
const jobOnlyError = {
  path: "request",
  error: "cannot be combined with policy, webhook, s3Config or expect, which apply to jobs; use request.expect",
} as const;
/** Returns true if `expect` has its default value. */
export const isDefaultExpectation = ({ status, output }: { status: string; output?: unknown }): boolean =>
  status === "COMPLETED" && output === undefined;

/** Inputs of a JobInvoke resource: a job or request that must succeed before the deployment continues. */
export const jobInvokeInputs = uncheckedInputs.check(
  rule(
    ["input", "request"],
    (inputs) => (inputs.input === undefined) !== (inputs.request === undefined),
    exactlyOneError,
  ),
  rule(
    ["request", "policy", "webhook", "s3Config", "expect"],
    ({ request: sent, policy, webhook, s3Config, expect }) =>
      sent === undefined || (!policy && webhook === undefined && !s3Config && isDefaultExpectation(expect)),
    jobOnlyError,
  ),
);

/** Options of outputs that contain the output of a job, or facts about it. */
const ofOutput = { secretWith: ["input", "expect", "request", "s3Config"] };

/** Outputs of a JobInvoke resource, which are known after its job has run. */
export const jobInvokeOutputs = z.object({
  jobId: z.string().describe("Id of the job; with `request`, an id generated by the provider."),
  status: jobStatus.describe("Final state of the job."),
  output: z
    .unknown()
    .describe(
      "Return value of the handler; with `request`, the body of the response. An integer that a double cannot represent, such as " +
        "12345678901234567890, and a number outside its range, such as 1e400, are text with their digits.",
    )
    .optional()
    .register(propertyOptions, ofOutput),
  outputSha256: z
    .string()
    .describe("SHA-256 of the output as compact JSON, in hexadecimal digits, if `storeOutput` is false.")
    .optional()
    .register(propertyOptions, ofOutput),
  outputSize: z
    .int()
    .describe("Size of the output as compact JSON in bytes, if `storeOutput` is false.")
    .optional()
    .register(propertyOptions, ofOutput),
  delayTime: z.number().describe("Waiting time of the job in ms.").optional(),
  executionTime: z.number().describe("Execution time of the job in ms.").optional(),
});
for (const output of Object.values(jobInvokeOutputs.shape))
  output.register(computed, { dependsOn: Object.keys(jobInvokeInputs.shape) });

/** Finished job, or the response to a request in the form of a finished job. */
export type JobResult = JobRecord & { httpStatus?: number };
/** Outputs of a JobInvoke resource. */
export type JobInvokeOutputs = z.output<typeof jobInvokeOutputs>;

/** Job to run, with its criteria for success. */
export type JobSpec = z.output<typeof jobInvokeInputs>;

/** Arguments of a job that a script runs; properties with a default are optional. */
export type InvokeJobArgs = z.input<typeof jobInvokeInputs>;

/** Checks arguments and fills in defaults; throws one line for each invalid property. */
export function parseJobArgs(args: InvokeJobArgs): JobSpec {
  const { inputs, failures } = checkInputs(jobInvokeInputs, {}, toProperties(args), undefined);
  if (failures.length > 0) throw new TypeError(failures.map(({ path, reason }) => `${path}: ${reason}`).join("\n"));
  return jobInvokeInputs.parse(withoutOmitted(inputs));
}
