import type { JobRecord } from "serverless-compute-api";
import { jobInvokeInputs, jobInvokeOutputs } from "serverless-compute-api/shapes";
import type { z } from "zod";
import { defineLifecycle } from "./definition";
import type { JobOrder } from "./job-order";
import { runExpected } from "./job-verdict";
import type { Context } from "./lifecycle";

type Outputs = z.output<typeof jobInvokeOutputs>;

/** Everything that a run may come out differently by. */
const order = ["endpointId", "input", "mode", "policy", "timeout", "triggers", "expect"] as const;

/** What a finished job tells. */
export const outcomeOf = ({ id, status, output, delayTime, executionTime }: JobRecord): Outputs => ({
  jobId: id,
  status,
  output,
  ...(delayTime === undefined ? {} : { delayTime }),
  ...(executionTime === undefined ? {} : { executionTime }),
});

const run = async (inputs: JobOrder, context: Context): Promise<Outputs> =>
  outcomeOf(await runExpected(inputs, context));

/**
 * One job that has to go well for the deployment to go on. It runs when it is created and when an input or a trigger
 * changes, never in a preview; one that fails stays undone, so the next deployment runs it again. Deleting it touches
 * nothing, and a job that ran is not read again: its result is kept by the service for minutes only.
 */
export const jobInvoke = defineLifecycle<JobOrder, Outputs>({
  kind: "JobInvoke",
  inputs: jobInvokeInputs,
  filled: jobInvokeInputs,
  outputs: jobInvokeOutputs,
  alters: { jobId: order, status: order, output: order, delayTime: order, executionTime: order },

  async create(inputs, context) {
    const outputs = await run(inputs, context);
    return { id: outputs.jobId, outputs };
  },

  async read(id, olds) {
    if (Object.keys(olds).length === 0)
      throw new Error(`job ${id} cannot be imported: a JobInvoke runs a job of its own`);
    return { inputs: {}, outputs: {} };
  },

  update: (_id, { news }, context) => run(news, context),

  delete: async () => {},
});
