import type { JobRecord } from "serverless-compute-api";
import { finalStatus, jobInput, jobPolicy, jobStatus, rule, traits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { checkInputs } from "../../lifecycle/properties/check";
import { toProperties } from "../../lifecycle/properties/values";

/** HTTP request to an endpoint of type LOAD_BALANCER, in place of a job. */
const request = z
  .strictObject({
    path: z
      .string()
      .regex(/^\/\S*$/, "must begin with / and contain no blanks")
      .describe("Path with its query, below the endpoint's url."),
    method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).describe("Method of the request.").default("GET"),
    body: z.unknown().describe("Body, sent as JSON.").optional(),
    expect: z
      .strictObject({
        status: z.int().min(200).max(599).describe("HTTP status of the response.").default(200),
        body: z.unknown().describe("Expected JSON body: objects match partially, everything else exactly.").optional(),
      })
      .describe("Criteria for success.")
      .default({ status: 200 }),
  })
  .describe("HTTP request that an endpoint of type LOAD_BALANCER must respond to as expected, in place of a job.");
export type RequestOrder = z.output<typeof request>;

const plainInvoke = z.strictObject({
  endpointId: z.string().min(1).describe("Id of the endpoint that runs the job."),
  input: jobInput.describe("Input of the handler; required unless `request` is set.").optional(),
  request: request.optional(),
  mode: z
    .enum(["async", "sync"])
    .describe("`async`: /run, then /status until it is over. `sync`: one /runsync.")
    .default("async"),
  policy: jobPolicy.describe("Per-job time-outs and priority.").optional(),
  timeout: z
    .int()
    .min(1)
    .max(7 * 24 * 3600)
    .describe("Seconds to wait for the job, queueing and worker start included; then it is cancelled.")
    .default(300),
  triggers: z
    .array(z.unknown())
    .describe("Values whose change runs the job again, for example `[template.revision]`.")
    .default([]),
  expect: z
    .strictObject({
      status: finalStatus.describe("State that the job must end in.").default("COMPLETED"),
      output: z.unknown().describe("Expected output: objects match partially, everything else exactly.").optional(),
    })
    .describe("Criteria for success.")
    .default({ status: "COMPLETED" }),
});

/** Rules of the properties that describe the work. */
const oneWork = { path: "input", error: "is required, or request instead; not both" } as const;
const jobOnly = {
  path: "request",
  error: "cannot be combined with policy or expect, which apply to jobs; use request.expect",
} as const;
/** Returns true if the expectation of a job is the default. */
export const isPlain = ({ status, output }: { status: string; output?: unknown }): boolean =>
  status === "COMPLETED" && output === undefined;

/** Inputs of a JobInvoke resource: one job or request that has to go well for the deployment to go on. */
export const jobInvokeInputs = plainInvoke.check(
  rule(["input", "request"], (work) => (work.input === undefined) !== (work.request === undefined), oneWork),
  rule(
    ["request", "policy", "expect"],
    (work) => work.request === undefined || (work.policy === undefined && isPlain(work.expect)),
    jobOnly,
  ),
);

/** Outputs of a JobInvoke resource, known after its job has run. */
export const jobInvokeOutputs = z.object({
  jobId: z.string().describe("Id of the job; with `request`, one that the provider generates."),
  status: jobStatus.describe("Final state of the job."),
  output: z
    .unknown()
    .describe("Return value of the handler; with `request`, the body of the response.")
    .register(traits, { secretWith: ["input", "expect", "request"] }),
  delayTime: z.number().describe("Time that the job waited, ms.").optional(),
  executionTime: z.number().describe("Time that the job ran, ms.").optional(),
});
/** A finished job; of a request, its response in the form of one. */
export type Ended = JobRecord & { httpStatus?: number };
export type JobInvokeOutputs = z.output<typeof jobInvokeOutputs>;

/** One job to run and what counts as success. */
export type JobOrder = z.output<typeof jobInvokeInputs>;

/** Arguments in a script: properties with a default are optional, and properties of deployments are missing. */
export type InvokeJobArgs = z.input<typeof jobInvokeInputs>;

/** Checks arguments and fills in defaults; throws one line for each invalid property. */
export function jobOrder(written: InvokeJobArgs): JobOrder {
  const { inputs, failures } = checkInputs(jobInvokeInputs, {}, toProperties(written), undefined);
  if (failures.length > 0) throw new TypeError(failures.map(({ path, reason }) => `${path}: ${reason}`).join("\n"));
  return jobInvokeInputs.parse(inputs);
}
