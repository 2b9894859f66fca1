import type { CallOptions, UnreadableElement } from "serverless-compute-api";
import type { Context } from "./contract";
import { sharedValue } from "./deployment";

/** Parts of an operation's context that its calls require. */
export type CallContext = Pick<
  Context,
  | "clients"
  | "settings"
  | "signal"
  | "clock"
  | "deadline"
  | "cleanupDeadline"
  | "onDeadline"
  | "cancelSignal"
  | "progress"
  | "secrets"
>;

/** Maximum time for the response to a create after a cancellation, ms; /runsync itself waits 1000. */
const cancelGracePeriod = 2000;

const reportedKeys = sharedValue(() => new Set<string>());

/** Warns once about an unreadable object in a list, which is ignored. */
function reportUnreadable(context: CallContext, { id, error }: UnreadableElement): void {
  const text = `ignored an unreadable object in a list (id ${id ?? "unknown"}): ${error.message}`;
  const reported = reportedKeys(context);
  // The text contains the position in the list, which may change.
  const key = id ?? text;
  if (!reported.has(key)) context.progress(text);
  reported.add(key);
}

/** A wait in ms, rounded up: in tenths of a second below 1 s, otherwise in whole seconds. */
const waitText = (ms: number): string => `${ms < 1000 ? Math.ceil(ms / 100) / 10 : Math.ceil(ms / 1000)} s`;

/** Call options of an operation: cancelled with it, with progress during backoff, and lists without unreadable objects. */
export function callOptions(context: CallContext): CallOptions {
  return {
    signal: context.signal,
    timeout: context.deadline === undefined ? undefined : Math.max(1, context.deadline - context.clock.now()),
    onDeadline: context.onDeadline,
    secrets: context.secrets.values,
    onRetry: ({ error: { status, code }, attempt, delay }) => {
      const cause = status ?? code.replaceAll("_", " ");
      context.progress(`request failed (${cause}); retrying in ${waitText(delay)} (attempt ${attempt + 1})`);
    },
    onPause: ({ delay }) => context.progress(`rate limit reached; continuing in ${waitText(delay)}`),
    onUnreadable: (element) => reportUnreadable(context, element),
  };
}

/** Call options for a response that several operations share: the timeout of one operation must not fail the others. */
export function sharedCallOptions(context: CallContext): CallOptions {
  const { cancelSignal, signal } = context;
  return { ...callOptions(context), signal: cancelSignal ?? signal, timeout: undefined, onDeadline: undefined };
}

/**
 * Sends a call whose result must be known, such as a create. A cancellation ends its waits immediately, but a request in
 * flight may still get its response, which identifies the new object. `onResponseLost` is called if it gets none, so that the result
 * is unknown.
 */
export async function completeDespiteCancel<Result>(
  context: CallContext,
  call: (options: CallOptions) => Promise<Result>,
  onResponseLost: () => void = () => {},
): Promise<Result> {
  const { signal, clock } = context;
  signal.throwIfAborted();
  const requestAbort = new AbortController();
  const done = new AbortController();
  const abortAfterGracePeriod = async (): Promise<void> => {
    await clock.sleep(cancelGracePeriod, done.signal);
    onResponseLost();
    requestAbort.abort(signal.reason);
  };
  // A sleep that `done` ends is not an error.
  const onAbort = (): void => void abortAfterGracePeriod().catch(() => undefined);
  signal.addEventListener("abort", onAbort);
  try {
    return await call({ ...callOptions(context), signal: requestAbort.signal, waitSignal: signal });
  } finally {
    signal.removeEventListener("abort", onAbort);
    done.abort();
  }
}

/** Returns true if an operation may only clean up, because it was cancelled or its timeout has expired. */
export const isCancelledOrExpired = ({
  clock,
  deadline,
  signal,
}: Pick<Context, "clock" | "deadline" | "signal">): boolean =>
  signal.aborted || (deadline !== undefined && clock.now() >= deadline);

/** Time limit of one cleanup call, ms. */
const cleanupTimeout = 3000;

/** Call options for cleanup after a cancellation or a timeout: not cancelled, with a short limit. */
export const cleanupCallOptions = ({
  clock,
  cleanupDeadline,
  secrets,
}: Pick<Context, "clock" | "cleanupDeadline" | "secrets">): CallOptions => ({
  secrets: secrets.values,
  timeout:
    cleanupDeadline === undefined
      ? cleanupTimeout
      : Math.max(1, Math.min(cleanupTimeout, cleanupDeadline - clock.now())),
});
