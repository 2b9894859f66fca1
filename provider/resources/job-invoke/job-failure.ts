/** A job that did not do what was expected of it; the message holds what a person needs to find out why. */
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

/** Characters of a handler's error text that a message shows. */
const errorLength = 4000;

/** Shortens a text for a message. */
export const shortened = (text: string | undefined): string | undefined =>
  text !== undefined && text.length > errorLength ? `${text.slice(0, errorLength)}…` : text;
