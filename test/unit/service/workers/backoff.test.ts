import { expect, test } from "vitest";
import { resolveTimings } from "../../../../service/timings";
import { nextBackoff, noBackoff } from "../../../../service/workers/backoff";

const timings = resolveTimings({ startBackoff: 100, startBackoffMax: 1000 });

/** The backoffs after failures at the time 5000, each of which happened `starting` or not. */
function after(...failures: boolean[]) {
  let backoff = noBackoff;
  return failures.map((starting) => {
    backoff = nextBackoff(backoff, starting, 5000, timings);
    return { failedStarts: backoff.failedStarts, wait: backoff.notBefore - 5000 };
  });
}

test("the wait before the next worker of an endpoint doubles with each failure, up to its limit", () => {
  const waits = after(...Array.from({ length: 7 }, () => false)).map(({ wait }) => wait);
  expect(waits).toEqual([100, 200, 400, 800, 1000, 1000, 1000]);
});

test("only consecutive failures of starting workers count as failed starts", () => {
  expect(after(true, true, false, true).map(({ failedStarts }) => failedStarts)).toEqual([1, 2, 0, 1]);
});
