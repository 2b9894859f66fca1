import { expect } from "vitest";
import { pollUntil, type RawResponse } from "../../support/raw-http";

/** Maximum difference between timers and clock readings, ms. */
const blur = 5;

/** Asserts that at least `ms` have passed since `since`. */
export function expectPassed(startTime: number, ms: number, what: string): void {
  const passed = Date.now() - startTime;
  expect(passed, `${what} happened after ${passed} ms`).toBeGreaterThanOrEqual(ms - blur);
}

/**
 * Polls until `done` returns true and asserts that this took at least `ms` from `since`. Take `since` before the request
 * that starts the wait, so that a slow machine cannot fail the test. The only upper bound is the polling limit.
 */
export async function comesAfter(
  startTime: number,
  ms: number,
  request: () => Promise<RawResponse>,
  done: (response: RawResponse) => boolean,
): Promise<RawResponse> {
  const response = await pollUntil(request, done, ms + 15_000);
  expectPassed(startTime, ms, response.request);
  return response;
}
