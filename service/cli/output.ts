import { messageOf } from "../errors";
/** Output of commands, in complete lines. */
export interface Output {
  out(text: string): void;
  err(text: string): void;
}

/** Exit codes for a failed command, an invalid command line, and a second Ctrl-C. */
export const exitCodes = { failed: 1, usage: 2, interrupted: 130 } as const;

/** Control characters, which could change the terminal. */
const control = /\p{Cc}/gu;

/** Prints an error without control characters except line breaks and tabs. */
export const printError = (output: Output, error: unknown): void =>
  output.err(`serverless-compute-local: ${messageOf(error).replace(/[^\P{Cc}\n\t]/gu, "?")}`);

/** Formats a table as lines; columns are as wide as their widest cell, and numbers are right-aligned. */
export function tableText(head: string[], rows: (string | number)[][]): string {
  const cells = [head, ...rows.map((row) => row.map((cell) => String(cell).replace(control, "?")))];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? "").length)));
  const isNumeric = head.map((_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === "number"));
  const padded = (cell: string, column: number): string =>
    isNumeric[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
  return cells.map((row) => row.map(padded).join("  ").trimEnd()).join("\n");
}
