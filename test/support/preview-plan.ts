import { z } from "zod";
import type { Stack } from "./pulumi";

const stateShape = z.looseObject({ inputs: z.record(z.string(), z.unknown()).optional() });
const planShape = z.looseObject({
  steps: z.array(z.looseObject({ op: z.string(), urn: z.string(), newState: stateShape.optional() })),
});
const nameOf = (urn: string): string => urn.slice(urn.lastIndexOf("::") + 2);

/** A preview's steps and the inputs that it plans, by the name of the resource. */
interface PreviewPlan {
  steps: Record<string, string>;
  inputs: Record<string, Record<string, unknown> | undefined>;
}

/** Runs a preview with output in JSON; `env` is added to the stack's environment. */
export async function previewPlan(stack: Stack, env: Record<string, string> = {}): Promise<PreviewPlan> {
  const { output } = await stack.command(["preview", "--json", "--show-sames"], { env });
  const { steps } = planShape.parse(JSON.parse(output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1)));
  const resourceSteps = steps.filter(({ urn }) => !urn.includes("::pulumi:"));
  return {
    steps: Object.fromEntries(resourceSteps.map(({ op, urn }) => [nameOf(urn), op])),
    inputs: Object.fromEntries(resourceSteps.map(({ urn, newState }) => [nameOf(urn), newState?.inputs])),
  };
}

/** The inputs of a deployed resource. */
export async function deployedInputs(stack: Stack, name: string): Promise<Record<string, unknown> | undefined> {
  return (await stack.resources()).find(({ urn }) => nameOf(urn) === name)?.inputs;
}
