import { finalStatus, jobInput, jobPolicy, jobStatus, traits } from "serverless-compute-api/shapes";
import { z } from "zod";
import { checkInputs } from "../../lifecycle/properties/check";
import { toProperties } from "../../lifecycle/properties/values";

/** Inputs of a JobInvoke resource: one job that has to go well for the deployment to go on. */
export const jobInvokeInputs = z.strictObject({
  endpointId: z.string().min(1).describe("Id of the endpoint that runs the job."),
  input: jobInput.describe("Input of the handler."),
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

/** Outputs of a JobInvoke resource, known after its job has run. */
export const jobInvokeOutputs = z.object({
  jobId: z.string().describe("Id of the job."),
  status: jobStatus.describe("State that the job ended in."),
  output: z
    .unknown()
    .describe("Return value of the handler.")
    .register(traits, { secretWith: ["input", "expect"] }),
  delayTime: z.number().describe("Milliseconds that the job waited.").optional(),
  executionTime: z.number().describe("Milliseconds that the job ran.").optional(),
});
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
