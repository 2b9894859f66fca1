import type { Context } from "../../lifecycle/contract";
import { defineLifecycle } from "../../lifecycle/define";
import { type JobOrder, jobInvokeInputs, jobInvokeOutputs, type JobInvokeOutputs as Outputs } from "./inputs";
import { outcomeOf, runExpected } from "./verdict";

/** Everything that a run may come out differently by. */
const order = ["endpointId", "input", "request", "mode", "policy", "timeout", "triggers", "expect"] as const;

const run = async (inputs: JobOrder, context: Context): Promise<Outputs> =>
  outcomeOf(await runExpected(inputs, context));

/**
 * One job that has to go well for the deployment to go on. It runs when it is created and when an input or a trigger
 * changes, never in a preview; one that fails stays undone, so the next deployment runs it again. Deleting it touches
 * nothing, and a job that ran is not read again: its result is kept by the service for minutes only.
 */
export const jobInvoke = defineLifecycle<JobOrder, Outputs>({
  kind: "JobInvoke",
  description:
    "Runs one job, or sends one request to a load balancer, when it is created or its inputs or triggers change; a failure fails " +
    "the deployment.",
  inputs: jobInvokeInputs,
  resolved: jobInvokeInputs,
  outputs: jobInvokeOutputs,
  alters: { jobId: order, status: order, output: order, delayTime: order, executionTime: order },

  async create(inputs, context) {
    const outputs = await run(inputs, context);
    return { id: outputs.jobId, outputs };
  },

  async read(id, olds) {
    if (Object.keys(olds).length === 0)
      throw new Error(`job ${id} cannot be imported: a JobInvoke always runs a new job`);
    return { inputs: {}, outputs: {} };
  },

  // An update may change no more than a time-out.
  update: async (_id, { olds, news, changed }, context) =>
    order.some(changed) ? run(news, context) : jobInvokeOutputs.parse(olds),

  delete: async () => {},
});
