import type { Context } from "../../framework/contract";
import type { Verify } from "./inputs";

/** Time reserved for a rollback: a fifth of the operation's remaining time, up to a maximum (ms). */
const rollbackDivisor = 5;
const maxRollbackTime = 30_000;

/** Time limit of a verification. */
export interface Deadline {
  /** Returns the remaining time (ms); 0 or less after the deadline. */
  remaining(): number;
  /** Extends the deadline by the wait for a polling turn (ms). */
  extend(ms: number): void;
}

/**
 * Returns the deadline of a verification: its own timeout, extended by waits for polling turns, but early enough for a rollback
 * before the operation's timeout.
 */
export function deadlineOf({ timeout }: Verify, { clock, deadline }: Pick<Context, "clock" | "deadline">): Deadline {
  const now = clock.now();
  let ownDeadline = now + timeout * 1000;
  const latest =
    deadline === undefined
      ? Number.POSITIVE_INFINITY
      : deadline - Math.min(maxRollbackTime, Math.max(0, deadline - now) / rollbackDivisor);
  return {
    remaining: () => Math.min(ownDeadline, latest) - clock.now(),
    extend: (ms) => {
      ownDeadline += ms;
    },
  };
}
