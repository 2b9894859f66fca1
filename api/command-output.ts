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

/** The parts of a command of the package `commander` that {@link rejectEmptyValues} reads. */
interface ParsedCommand {
  readonly options: readonly { flags: string; attributeName(): string }[];
  readonly registeredArguments: readonly { name(): string }[];
  readonly args: readonly string[];
  opts(): Record<string, unknown>;
  error(message: string): never;
}

/** Rejects empty values of options and arguments. A shell passes them for unset variables, and most would select a default. */
export function rejectEmptyValues(command: ParsedCommand): void {
  const isEmpty = (value: unknown): boolean => (Array.isArray(value) ? value.includes("") : value === "");
  const values = command.opts();
  const option = command.options.find((candidate) => isEmpty(values[candidate.attributeName()]));
  if (option) command.error(`error: option '${option.flags}' argument '' is invalid. It must not be empty.`);
  const name = command.registeredArguments[command.args.indexOf("")]?.name();
  if (name !== undefined)
    command.error(`error: command-argument value '' is invalid for argument '${name}'. It must not be empty.`);
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
