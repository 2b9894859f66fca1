import { z } from "zod";
import { defineResource } from "../../framework/operations";
import { type JobSpec, jobInvokeInputs, jobInvokeOutputs, type JobInvokeOutputs as Outputs } from "./inputs";
import { runAndCheck, storedOutputs } from "./job-result";

/** Inputs that affect the result of a run. */
const runInputs = Object.keys(jobInvokeInputs.shape).filter((key) => key !== "storeOutput");

/**
 * Job that must succeed before the deployment continues. It runs when it is created and when an input or a trigger changes, never
 * in a preview. A failed run is not recorded, so the next deployment runs the job again. A delete makes no API calls, and a
 * finished job is not read again, because the service keeps its result only for minutes.
 */
export const jobInvoke = defineResource<JobSpec, Outputs>({
  kind: "JobInvoke",
  label: ({ endpointId }) => (typeof endpointId === "string" ? `JobInvoke on endpoint "${endpointId}"` : undefined),
  description:
    "Runs one job, or sends one request to a load balancer, when it is created or its inputs or triggers change; a failure fails " +
    "the deployment.",
  inputs: jobInvokeInputs,
  // Without the rules of a check, and without the list of omitted properties.
  checkedInputs: z.object(jobInvokeInputs.shape),
  outputs: jobInvokeOutputs,

  async create(inputs, context) {
    const outputs = await runAndCheck(inputs, context);
    return { id: outputs.jobId, outputs };
  },

  async read(id, olds) {
    if (olds["jobId"] === undefined)
      throw new Error(
        `JobInvoke ${JSON.stringify(id)}: cannot be imported, because it always runs a new job; declare it without an id`,
      );
    return { inputs: {}, outputs: {} };
  },

  // The only change may be the resource option customTimeouts, or that the state no longer needs the output.
  async update(_id, { olds, news, changed }, context) {
    const runsAgain = runInputs.some(changed) || (changed("storeOutput") && news.storeOutput);
    if (runsAgain) return runAndCheck(news, context);
    const outputs = jobInvokeOutputs.parse(olds);
    return changed("storeOutput") ? storedOutputs(outputs, news) : outputs;
  },

  delete: async () => {},
});
