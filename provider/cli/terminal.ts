/** Standard streams of a command. Results go to `out`; progress, notices and errors to `err`. */
export interface Terminal {
  /** Prints complete lines. */
  out(text: string): void;
  /** Prints complete lines. */
  err(text: string): void;
  /** The whole of standard input. */
  input(): Promise<string>;
}

/** Exit codes: the command failed, the command line is wrong, the result needs attention. */
export const exitCodes = { failed: 1, usage: 2, attention: 3 } as const;

/** A number of things in a report, such as `2 objects`. */
export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
