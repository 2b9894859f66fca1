import type { Context } from "../../lifecycle/contract";
import type { Verify } from "./inputs";

/** Share of the verb's remaining time that is reserved for a rollback, and its maximum in ms. */
const rollbackPart = 5;
const longestRollback = 30_000;

/** The time limit of a verification. */
export interface Deadline {
  /** Remaining time, ms; 0 or less after the deadline. */
  left(): number;
  /** Extends the deadline by the wait for a turn of polling, ms. */
  extend(ms: number): void;
}

/**
 * The deadline of a verification: its own timeout, extended by waits for polling turns. It leaves time for a rollback before the
 * verb's timeout.
 */
export function deadlineOf({ timeout }: Verify, { clock, end }: Pick<Context, "clock" | "end">): Deadline {
  const now = clock.now();
  let own = now + timeout * 1000;
  const latest =
    end === undefined
      ? Number.POSITIVE_INFINITY
      : end - Math.min(longestRollback, Math.max(0, end - now) / rollbackPart);
  return {
    left: () => Math.min(own, latest) - clock.now(),
    extend: (ms) => {
      own += ms;
    },
  };
}
