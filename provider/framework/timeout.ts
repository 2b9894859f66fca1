import { maxTimerDelay } from "serverless-compute-api";
import type { Context } from "./contract";
import { helpOf, ResourceInitError, UserError } from "./errors";
import type { ErrorContext } from "./messages";

/** Share of a timeout that is reserved for cleanup and lookups, and its maximum in ms. */
const reserveDivisor = 5;
const maxReserve = 5000;

/** Time after the end before a wait is aborted, ms, so that an operation can report its own reason. */
const abortDelay = 50;

/**
 * Runs an operation so that it ends within its custom timeout. Its calls, waits and lookups end a little earlier, which leaves
 * time to look up created objects and to cancel running jobs. Its failure names the timeout.
 */
export async function withTimeout<Result>(
  subject: ErrorContext,
  context: Context,
  work: (context: Context) => Promise<Result>,
): Promise<Result> {
  const { timeout, clock } = context;
  if (timeout === undefined) return work(context);
  const reserve = Math.min(maxReserve, timeout / reserveDivisor);
  const deadline = clock.now() + timeout - reserve;
  const { operation } = subject;
  const reason = new UserError(`${operation} timed out after ${timeout / 1000} s (customTimeouts.${operation})`);
  const expiry = new AbortController();
  let deadlineReached = false;
  const expire = (): never => {
    expiry.abort(reason);
    throw reason;
  };
  // Ends operations that follow neither clock nor deadline, such as the wait for a free connection.
  const timer = setTimeout(() => expiry.abort(reason), Math.min(maxTimerDelay, timeout - reserve / 2));
  const bounded: Context = {
    ...context,
    signal: AbortSignal.any([context.signal, expiry.signal]),
    cancelSignal: context.signal,
    deadline,
    cleanupDeadline: deadline + reserve,
    onDeadline: () => {
      deadlineReached = true;
    },
    clock: {
      now: () => clock.now(),
      sleep: async (ms, signal) => {
        const remaining = deadline - clock.now();
        if (expiry.signal.aborted || ms <= remaining + abortDelay) return clock.sleep(ms, signal);
        await clock.sleep(Math.max(0, remaining), signal);
        expire();
      },
    },
  };
  try {
    return await work(bounded);
  } catch (error) {
    const isExpired = deadlineReached || expiry.signal.aborted || clock.now() >= deadline;
    throw isExpired && !context.signal.aborted ? withTimeoutMessage(error, reason, subject) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Returns true if an error was caused by another one, whose text its message then contains. */
const isCausedBy = ({ cause }: Error, reason: Error): boolean =>
  cause === reason || (cause instanceof Error && isCausedBy(cause, reason));

/** A failure that names the timeout of the operation; it keeps the created object. */
function withTimeoutMessage(error: unknown, reason: UserError, { label }: ErrorContext): unknown {
  if (error === reason) return new UserError(`${label}: ${reason.message}`, { cause: reason });
  if (!(error instanceof Error) || isCausedBy(error, reason)) return error;
  const message = `${error.message}\nThe ${reason.message}.`;
  if (error instanceof ResourceInitError)
    return new ResourceInitError(message, error.id, error.outputs, { cause: error.cause, help: error.help });
  return new UserError(message, { cause: error.cause ?? error, help: helpOf(error) });
}
