import { UserError } from "../../framework/errors";

/** Returns the failure of a job that did not end as expected; the lines contain the details and a remedy. */
export const jobFailure = (lines: (string | undefined)[], cause?: unknown): UserError =>
  new UserError(lines.filter((line) => line !== undefined).join("\n"), { cause });

/** Maximum length of a handler's error text in a message (characters). */
const maxErrorLength = 4000;

/** Truncates a text for a message. */
export const truncate = (text: string | undefined): string | undefined =>
  text !== undefined && text.length > maxErrorLength ? `${text.slice(0, maxErrorLength)}…` : text;
