/** Error for a job that did not end as expected; the message contains the details and a remedy. */
export class JobFailure extends Error {
  override readonly name = "JobFailure";
  constructor(
    lines: (string | undefined)[],
    readonly endpointId: string,
    readonly jobId: string | undefined,
    options?: { cause?: unknown },
  ) {
    super(lines.filter((line) => line !== undefined).join("\n"), options);
  }
}

/** Maximum length of a handler's error text in a message (characters). */
const maxErrorLength = 4000;

/** Truncates a text for a message. */
export const truncate = (text: string | undefined): string | undefined =>
  text !== undefined && text.length > maxErrorLength ? `${text.slice(0, maxErrorLength)}…` : text;
