import type { CallOptions, Clients, UnreadableElement } from "serverless-compute-api";
import type { Context } from "./contract";

type CallContext = Pick<
  Context,
  "clients" | "signal" | "clock" | "end" | "onDeadline" | "cancelSignal" | "progress" | "secrets"
>;

/** Time that a create may still take after a cancellation, ms; a /runsync itself waits 1000. */
const grace = 2000;

const shown = new WeakMap<Clients, Set<string>>();

/** Warns once about an unreadable object in a list, which is ignored. */
function showUnreadable({ clients, progress }: CallContext, { id, error }: UnreadableElement): void {
  const text = `ignored an unreadable object in a list (id ${id ?? "unknown"}): ${error.message}`;
  const known = shown.get(clients) ?? new Set();
  shown.set(clients, known);
  // The text contains the position in the list, which may change.
  const key = id ?? text;
  if (!known.has(key)) progress(text);
  known.add(key);
}

/** Call options of a verb: cancelled with it, with progress during backoff, and lists without unreadable objects. */
export function callOptions(context: CallContext): CallOptions {
  return {
    signal: context.signal,
    deadline: context.end === undefined ? undefined : Math.max(1, context.end - context.clock.now()),
    onDeadline: context.onDeadline,
    secrets: context.secrets?.values,
    onRetry: ({ attempt, delay }) =>
      context.progress(`request failed; retrying in ${Math.ceil(delay / 1000)} s (attempt ${attempt + 1})`),
    onPause: ({ delay }) => context.progress(`rate limit reached; continuing in ${Math.ceil(delay / 1000)} s`),
    onUnreadable: (one) => showUnreadable(context, one),
  };
}

/** Call options for a response that several verbs share: the timeout of one verb must not fail the others. */
export function sharedCallOptions(context: CallContext): CallOptions {
  const { cancelSignal, signal } = context;
  return { ...callOptions(context), signal: cancelSignal ?? signal, deadline: undefined, onDeadline: undefined };
}

/** Waits for a shared response until the signal aborts. */
export function whileAllowed<Answer>(answer: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const give = (): void => reject(signal.reason);
    if (signal.aborted) give();
    signal.addEventListener("abort", give, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", give));
  });
}

/**
 * Sends a call whose result must be known, such as a create. A cancellation ends its waits immediately, but a request in
 * flight may still get its response, which identifies the new object. `onCutOff` is called if it gets none, so that the result
 * is unknown.
 */
export async function making<Answer>(
  context: CallContext,
  call: (options: CallOptions) => Promise<Answer>,
  onCutOff: () => void = () => {},
): Promise<Answer> {
  const { signal, clock } = context;
  signal.throwIfAborted();
  const late = new AbortController();
  const over = new AbortController();
  const cutOff = async (): Promise<void> => {
    await clock.sleep(grace, over.signal);
    onCutOff();
    late.abort(signal.reason);
  };
  // A sleep that `over` ends is not an error.
  const onAbort = (): void => void cutOff().catch(() => undefined);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await call({ ...callOptions(context), signal: late.signal, waitSignal: signal });
  } finally {
    signal.removeEventListener("abort", onAbort);
    over.abort();
  }
}

/** Returns true if a verb may only clean up, because it was cancelled or its timeout has expired. */
export const isOver = ({ clock, end, signal }: Pick<Context, "clock" | "end" | "signal">): boolean =>
  signal.aborted || (end !== undefined && clock.now() >= end);

/** Time limit of one cleanup call, ms. */
const tidying = 3000;

/** Call options for cleanup after a cancellation or a timeout: not cancelled, with a short limit. */
export const tidyingOptions = ({
  clock,
  tidyEnd,
  secrets,
}: Pick<Context, "clock" | "tidyEnd" | "secrets">): CallOptions => ({
  secrets: secrets?.values,
  deadline: tidyEnd === undefined ? tidying : Math.max(1, Math.min(tidying, tidyEnd - clock.now())),
});
