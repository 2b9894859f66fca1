/** Output of a command, in complete lines: results on `out`, notices on `err`. */
export interface CommandOutput {
  out(text: string): void;
  err(text: string): void;
}

/** Control characters, which could change the terminal. */
const control = /\p{Cc}/gu;

/** Formats a table as lines; columns are as wide as their widest cell, and numbers are right-aligned. */
export function tableText(head: string[], rows: (string | number)[][]): string {
  const cells = [head, ...rows.map((row) => row.map((cell) => String(cell).replace(control, "?")))];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? "").length)));
  const isNumeric = head.map((_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === "number"));
  const padded = (cell: string, column: number): string =>
    isNumeric[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
  return cells.map((row) => row.map(padded).join("  ").trimEnd()).join("\n");
}

/**
 * Runs a command that waits, with a signal that aborts on the first Ctrl-C or with `outputClosed`. A second Ctrl-C ends the process.
 */
export async function untilInterrupted<Result>(
  outputClosed: AbortSignal | undefined,
  command: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const abort = () => controller.abort(new Error("interrupted"));
  process.once("SIGINT", abort);
  outputClosed?.addEventListener("abort", abort);
  if (outputClosed?.aborted) abort();
  try {
    return await command(controller.signal);
  } finally {
    process.removeListener("SIGINT", abort);
    outputClosed?.removeEventListener("abort", abort);
  }
}

/**
 * Returns a signal that aborts once the output of this process is closed or cannot be written. The reader of a pipe, for example `head`,
 * may close it. Any other reason is reported, and the process ends with code 1.
 */
export function watchOutput(report: (message: string) => void): AbortSignal {
  const closed = new AbortController();
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code !== "EPIPE" && !closed.signal.aborted) {
      report(`the output: cannot be written (${code}); write it to another place`);
      process.exitCode = 1;
    }
    closed.abort();
  });
  return closed.signal;
}
