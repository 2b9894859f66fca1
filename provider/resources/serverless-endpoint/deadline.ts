import type { Context } from "../../lifecycle/contract";
import type { Verify } from "./inputs";

/** Part of the time left of the verb's own timeout that is reserved for a rollback, and milliseconds at most. */
const rollbackPart = 5;
const longestRollback = 30_000;

/** The time limit of a verification. */
export interface Deadline {
  /** Milliseconds until it; 0 or less once it has passed. */
  left(): number;
  /** Moves it by the milliseconds that the limit of polls took. */
  extend(ms: number): void;
}

/**
 * The deadline of a verification: its own timeout, which delays by the limit of polls extend, and in any case before the end of
 * the verb's timeout, early enough for a rollback.
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
