import { markVariable, rule } from "serverless-compute-api/shapes";
import type { StartArguments } from "./start-arguments";

/** Start arguments are text or lists. */
export const startArgumentsRule = rule<
  { [Key in keyof StartArguments]?: StartArguments[Key] | undefined },
  keyof StartArguments
>(
  ["dockerArgs", "dockerEntrypoint", "dockerStartCmd"],
  ({ dockerArgs = "", dockerEntrypoint = [], dockerStartCmd = [] }) =>
    dockerArgs === "" || dockerEntrypoint.length + dockerStartCmd.length === 0,
  { path: "dockerArgs", error: "cannot be combined with dockerEntrypoint or dockerStartCmd" },
);

/** The variable of the mark belongs to the provider. */
export const markRule = rule<{ env?: Readonly<Record<string, string>> | undefined }, "env">(
  ["env"],
  ({ env = {} }) => !Object.hasOwn(env, markVariable),
  { path: "env", error: `must not contain ${markVariable}, which the provider sets; remove it` },
);
