import type { CallOptions, Clients, UnreadableElement } from "serverless-compute-api";
import type { Context } from "./contract";

type CallContext = Pick<
  Context,
  "clients" | "signal" | "clock" | "end" | "onDeadline" | "cancelSignal" | "progress" | "secrets"
>;

/** Milliseconds that a call which makes something may still take after a cancellation; a /runsync waits 1000 itself. */
const grace = 2000;

const shown = new WeakMap<Clients, Set<string>>();

/** Shows once that a list has an object which cannot be read, and which none of ours may be: it is left out. */
function showUnreadable({ clients, progress }: CallContext, { id, error }: UnreadableElement): void {
  const text = `ignored an unreadable object in a list (id ${id ?? "unknown"}): ${error.message}`;
  const known = shown.get(clients) ?? new Set();
  shown.set(clients, known);
  // Its place in the list, which the text names, changes with the list.
  const key = id ?? text;
  if (!known.has(key)) progress(text);
  known.add(key);
}

/** How a verb calls the service: cancelled with it, its waits for another try shown, its lists without what cannot be read. */
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

/** How a call is made whose response other verbs wait for too: the time-out of this one must not fail them. */
export function sharedCallOptions(context: CallContext): CallOptions {
  const { cancelSignal, signal } = context;
  return { ...callOptions(context), signal: cancelSignal ?? signal, deadline: undefined, onDeadline: undefined };
}

/** Waits for a response that other verbs wait for too, no longer than the signal allows. */
export function whileAllowed<Answer>(answer: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const give = (): void => reject(signal.reason);
    if (signal.aborted) give();
    signal.addEventListener("abort", give, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", give));
  });
}

/**
 * Makes a call whose result must not stay unknown, such as a create. A cancellation ends its waits immediately, but not
 * an attempt that is in flight: its response, which identifies the new object, is awaited for a moment. `onCutOff` is
 * called if there was no response, so that the result is unknown.
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
  // A sleep that `over` ends was needed no longer.
  const onAbort = (): void => void cutOff().catch(() => undefined);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await call({ ...callOptions(context), signal: late.signal, waitSignal: signal });
  } finally {
    signal.removeEventListener("abort", onAbort);
    over.abort();
  }
}

/** Returns true if a verb is to do nothing more but tidy up: it was cancelled, or its time is over. */
export const isOver = ({ clock, end, signal }: Pick<Context, "clock" | "end" | "signal">): boolean =>
  signal.aborted || (end !== undefined && clock.now() >= end);

/** Milliseconds for one call that tidies up. */
const tidying = 3000;

/** How to tidy up after a cancellation or at the end of a verb's time: not cancelled itself, and short. */
export const tidyingOptions = ({
  clock,
  tidyEnd,
  secrets,
}: Pick<Context, "clock" | "tidyEnd" | "secrets">): CallOptions => ({
  secrets: secrets?.values,
  deadline: tidyEnd === undefined ? tidying : Math.max(1, Math.min(tidying, tidyEnd - clock.now())),
});
