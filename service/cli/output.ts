import type { CommandOutput } from "serverless-compute-api/job-commands";
import { messageOf } from "../errors";

export type { CommandOutput as Output };

/** Exit codes for a failed command, an invalid command line, and a second Ctrl-C. */
export const exitCodes = { failed: 1, usage: 2, interrupted: 130 } as const;

/** Prints an error without control characters except line breaks and tabs. */
export const printError = (output: CommandOutput, error: unknown): void =>
  output.err(`serverless-compute-local: ${messageOf(error).replace(/[^\P{Cc}\n\t]/gu, "?")}`);
