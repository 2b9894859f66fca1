import { type Context, PartialFailure } from "./contract";
import { ExplainedError, type Subject } from "./messages";

/** A verb that exceeded its custom timeout. */
class VerbTimeout extends Error {
  override readonly name = "VerbTimeout";
  constructor(verb: Subject["verb"], limit: number) {
    super(`${verb} timed out after ${limit / 1000} s (customTimeouts.${verb})`);
  }
}

/** Share of a timeout that is reserved for cleanup and lookups, and its maximum in ms. */
const reservePart = 5;
const longestReserve = 5000;

/** Time after the end before a wait is aborted, ms, so that a verb can report its own reason. */
const slack = 50;

/** Longest delay of a Node timer, ms. */
const longestTimer = 2 ** 31 - 1;

/**
 * Runs a verb so that it ends within its custom timeout. Its calls, waits and lookups end a little earlier, which leaves
 * time to look up created objects and to cancel running jobs. Its failure names the timeout.
 */
export async function withinLimit<Answer>(
  subject: Subject,
  context: Context,
  work: (context: Context) => Promise<Answer>,
): Promise<Answer> {
  const { timeout, clock } = context;
  if (timeout === undefined) return work(context);
  const reserve = Math.min(longestReserve, timeout / reservePart);
  const end = clock.now() + timeout - reserve;
  const reason = new VerbTimeout(subject.verb, timeout);
  const limit = new AbortController();
  let cutShort = false;
  const stop = (): never => {
    limit.abort(reason);
    throw reason;
  };
  // Ends operations that follow neither clock nor deadline, such as the wait for a free connection.
  const timer = setTimeout(() => limit.abort(reason), Math.min(longestTimer, timeout - reserve / 2));
  const bounded: Context = {
    ...context,
    signal: AbortSignal.any([context.signal, limit.signal]),
    cancelSignal: context.signal,
    end,
    tidyEnd: end + reserve,
    onDeadline: () => {
      cutShort = true;
    },
    clock: {
      now: () => clock.now(),
      sleep: async (ms, signal) => {
        const left = end - clock.now();
        if (limit.signal.aborted || ms <= left + slack) return clock.sleep(ms, signal);
        await clock.sleep(Math.max(0, left), signal);
        stop();
      },
    },
  };
  try {
    return await work(bounded);
  } catch (error) {
    const over = cutShort || limit.signal.aborted || clock.now() >= end;
    throw over && !context.signal.aborted ? withReason(error, reason, subject) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** A failure that names the timeout of the verb; it keeps the created object. */
function withReason(error: unknown, reason: VerbTimeout, { label }: Subject): unknown {
  if (error === reason) return new ExplainedError(`${label}: ${reason.message}`, { cause: reason });
  if (!(error instanceof Error) || error.message.includes(reason.message)) return error;
  const message = `${error.message}\nThe ${reason.message}.`;
  if (error instanceof PartialFailure)
    return new PartialFailure(message, error.id, error.outputs, { cause: error.cause });
  return new ExplainedError(message, { cause: error.cause ?? error });
}
