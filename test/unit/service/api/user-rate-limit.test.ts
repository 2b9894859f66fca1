import { expect, test } from "vitest";
import { createUserRateLimit } from "../../../../service/api/user-rate-limit";
import { steadyClock } from "../../../../service/steady-clock";
import { ManualClock } from "../../../support/manual-clock";

/** Sends requests, and returns the headers and the error of the last response. */
function admitted(limit: ReturnType<typeof createUserRateLimit>, count: number) {
  const headers = new Headers();
  const reply: Parameters<typeof limit.admit>[0] = {
    header(name: string, value: unknown) {
      headers.set(name, String(value));
      return Object.create(null);
    },
  };
  let error: unknown;
  for (let sent = 0; sent < count; sent++) error = limit.admit(reply);
  return { headers, error };
}

test("headers contain the remaining requests of the minute, the hour and the day", async () => {
  const clock = new ManualClock();
  const limit = createUserRateLimit(steadyClock(clock));
  admitted(limit, 2);
  await clock.advance(20_000);
  const { headers } = admitted(limit, 1);
  expect(headers.get("RateLimit-Policy")).toBe('"minute";q=1000;w=60, "hour";q=30000;w=3600, "day";q=300000;w=86400');
  expect(headers.get("RateLimit")).toBe('"minute";r=997;t=40, "hour";r=29997;t=3580, "day";r=299997;t=86380');
});

test("an exhausted window is named, with the seconds until it resets", async () => {
  const clock = new ManualClock();
  const limit = createUserRateLimit(steadyClock(clock));
  const fault = (window: string, seconds: number) => ({
    code: "tooManyRequests",
    message: `rate limit exceeded for the ${window} window`,
    headers: { "Retry-After": String(seconds) },
  });
  expect(admitted(limit, 1000).error).toBeUndefined();
  expect(admitted(limit, 1).error).toMatchObject(fault("minute", 60));
  for (let minute = 1; minute < 30; minute++) {
    await clock.advance(60_000);
    expect(admitted(limit, 999).error).toBeUndefined();
  }
  await clock.advance(60_000);
  const { headers, error } = admitted(limit, 29);
  expect(error).toMatchObject(fault("hour", 1800));
  expect(headers.get("RateLimit")).toMatch(/^"minute";r=971;t=60, "hour";r=0;t=1800, /);
  await clock.advance(1800_000);
  expect(admitted(limit, 1).error).toBeUndefined();
});

test.each([-3_600_000, 3_600_000])(
  "an exhausted window keeps its length if the system time changes by %i ms",
  async (change) => {
    const clock = new ManualClock();
    const limit = createUserRateLimit(steadyClock(clock));
    admitted(limit, 1000);
    clock.change(change);
    await clock.advance(59_999);
    expect(admitted(limit, 1).error).toMatchObject({ headers: { "Retry-After": "1" } });
    await clock.advance(1);
    expect(admitted(limit, 1).error).toBeUndefined();
  },
);

test("of several exhausted windows, the one that resets last is named", async () => {
  const clock = new ManualClock();
  const limit = createUserRateLimit(steadyClock(clock));
  for (let minute = 0; minute < 30; minute++) {
    admitted(limit, 1000);
    await clock.advance(60_000);
  }
  // The minute is exhausted after the hour.
  const { headers, error } = admitted(limit, 1001);
  expect(headers.get("RateLimit")).toMatch(/^"minute";r=0;t=60, "hour";r=0;t=1800, /);
  expect(error).toMatchObject({
    message: "rate limit exceeded for the hour window",
    headers: { "Retry-After": "1800" },
  });
});
