import { expect } from "vitest";
import { pollUntil, type RawResponse } from "../../support/raw-http";

/** Timers and two readings of a clock may differ by that much, ms. */
const blur = 5;

/** Asserts that at least `ms` have passed since `since`. */
export function expectPassed(since: number, ms: number, what: string): void {
  const passed = Date.now() - since;
  expect(passed, `${what} came after ${passed} ms`).toBeGreaterThanOrEqual(ms - blur);
}

/**
 * Polls until `done` returns true and asserts that this took at least `ms` from `since`. Take `since` before the request
 * that starts the wait, so that a slow machine cannot fail the test. The only upper bound is the polling limit.
 */
export async function comesAfter(
  since: number,
  ms: number,
  ask: () => Promise<RawResponse>,
  done: (answer: RawResponse) => boolean,
): Promise<RawResponse> {
  const answer = await pollUntil(ask, done, ms + 15_000);
  expectPassed(since, ms, answer.request);
  return answer;
}
