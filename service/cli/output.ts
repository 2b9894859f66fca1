/** Where commands print complete lines. */
export interface Output {
  out(text: string): void;
  err(text: string): void;
}

/** Exit codes: a command that failed, a command line that cannot be right, and a second Ctrl-C. */
export const exitCodes = { failed: 1, usage: 2, interrupted: 130 } as const;

/** Reports what went wrong in one line. */
export const complain = (output: Output, error: unknown): void =>
  output.err(`serverless-compute-local: ${error instanceof Error ? error.message : String(error)}`);

/** Characters in a name that could control the terminal. */
const control = /\p{Cc}/gu;

/** Rows under a head as lines, each column as wide as its widest cell; numbers stand to the right. */
export function tableText(head: string[], rows: (string | number)[][]): string {
  const cells = [head, ...rows.map((row) => row.map((cell) => String(cell).replace(control, "?")))];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? "").length)));
  const isNumeric = head.map((_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === "number"));
  const padded = (cell: string, column: number): string =>
    isNumeric[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
  return cells.map((row) => row.map(padded).join("  ").trimEnd()).join("\n");
}
