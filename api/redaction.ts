/** Stands where a key or a secret value was. */
const mask = "[redacted]";

/** Answers a function that takes the secrets out of a text, in the forms that services and libraries echo them in. */
export function createRedaction(secrets: readonly string[]): (text: string) => string {
  const forms = secrets
    .filter((secret) => secret !== "")
    .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]);
  // Longest first, so that a secret that contains another leaves no rest behind.
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((left, secret) => left.replaceAll(secret, mask), text);
}

/** A copy of a fault that is safe to hand out: its texts redacted, the sockets and options that libraries attach left behind. */
export function redactFault(fault: unknown, redact: (text: string) => string): Error {
  if (!(fault instanceof Error)) return new Error(redact(String(fault)));
  const deeper = fault instanceof AggregateError && fault.errors.length > 0 ? fault.errors[0] : fault.cause;
  const copy = new Error(
    redact(fault.message),
    deeper === undefined ? undefined : { cause: redactFault(deeper, redact) },
  );
  copy.name = fault.name;
  return "code" in fault && typeof fault.code === "string" ? Object.assign(copy, { code: fault.code }) : copy;
}
