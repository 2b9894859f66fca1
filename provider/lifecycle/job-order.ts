import { jobInvokeInputs } from "serverless-compute-api/shapes";
import type { z } from "zod";
import { checkInputs } from "./check";
import { toProperties } from "./values";

/** One job to run and what counts as success. */
export type JobOrder = z.output<typeof jobInvokeInputs>;

/** The same as a person writes it: what has a default may be left out. */
export type JobInvokeOptions = z.input<typeof jobInvokeInputs>;

/** Checks an order and fills in its defaults; throws a line for each property that does not do. */
export function jobOrder(written: JobInvokeOptions): JobOrder {
  const { inputs, failures } = checkInputs(jobInvokeInputs, {}, toProperties(written), undefined);
  if (failures.length > 0) throw new TypeError(failures.map(({ path, reason }) => `${path}: ${reason}`).join("\n"));
  return jobInvokeInputs.parse(inputs);
}
