/** Standard streams of a command. Results go to `out`; progress, notices and errors to `err`. */
export interface Terminal {
  /** Prints complete lines. */
  out(text: string): void;
  /** Prints complete lines. */
  err(text: string): void;
  /** The whole of standard input. */
  input(): Promise<string>;
  /** Aborts when `out` is closed, for example by `head`. */
  closed?: AbortSignal;
}

/** Exit codes: the command failed, the command line is wrong, the result needs attention. */
export const exitCodes = { failed: 1, usage: 2, attention: 3 } as const;

/** A number of things in a report, such as `2 objects`. */
export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Help of the commands that use an account and no stack: the settings. */
export const settingsHelp = `
Environment variables that select the account:
  SERVERLESS_COMPUTE_API_KEY  API key of the account
  SERVERLESS_COMPUTE_URL      address of a local service on a port other than 7337
  SERVERLESS_COMPUTE_TARGET   "hosted" for the hosted service, instead of an address`;
