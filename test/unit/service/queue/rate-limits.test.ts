import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { rateLimits } from "serverless-compute-api/shapes";
import { expect, test } from "vitest";
import { createRateLimits } from "../../../../service/api/admission";
import { ServiceError } from "../../../../service/errors";
import { steadyClock } from "../../../../service/steady-clock";
import { ManualClock } from "../../../support/manual-clock";

const response = () => ({ raw: new ServerResponse(new IncomingMessage(new Socket())) });

/** Sends `count` requests, each finished immediately, and returns the number of admitted requests. */
function admitted(limits: ReturnType<typeof createRateLimits>, count: number, endpointId = "e"): number {
  let through = 0;
  for (let at = 0; at < count; at++) {
    const reply = response();
    try {
      limits.admit(endpointId, "cancel", reply);
      through++;
    } catch (error) {
      expect(error).toBeInstanceOf(ServiceError);
    }
    reply.raw.emit("close");
  }
  return through;
}

test("no period of 10 seconds admits more requests than the limit", async () => {
  const clock = new ManualClock();
  const limits = createRateLimits(steadyClock(clock), () => 0);
  expect(admitted(limits, 60)).toBe(60);
  await clock.advance(9000);
  expect(admitted(limits, 60)).toBe(40);
  await clock.advance(999);
  expect(admitted(limits, 1)).toBe(0);
  await clock.advance(1);
  expect(admitted(limits, 100)).toBe(60);
});

test.each([-3_600_000, 3_600_000])("the limit ignores a change of the system time by %i ms", async (change) => {
  const clock = new ManualClock();
  const limits = createRateLimits(steadyClock(clock), () => 0);
  expect(admitted(limits, 100)).toBe(100);
  clock.change(change);
  await clock.advance(9999);
  expect(admitted(limits, 1)).toBe(0);
  await clock.advance(1);
  expect(admitted(limits, 101)).toBe(100);
});

test("more than ten running workers raise the limits of the rate and of concurrent requests (dynamic rule)", () => {
  let workers = 10;
  const limits = createRateLimits(steadyClock(new ManualClock()), () => workers);
  /** Opens requests up to the limit of concurrent requests; returns the first. */
  const fill = (count: number, endpointId: string) => {
    const open = Array.from({ length: count }, response);
    for (const reply of open) limits.admit(endpointId, "cancel", reply);
    expect(() => limits.admit(endpointId, "cancel", response())).toThrow(`${count} concurrent requests`);
    return open[0];
  };
  expect(admitted(limits, 500, "few")).toBe(rateLimits.cancel.requests);
  const first = fill(20, "few at once");
  first?.raw.emit("close");
  expect(() => limits.admit("few at once", "cancel", response())).not.toThrow();
  workers = 30;
  expect(admitted(limits, 500, "many")).toBe(rateLimits.cancel.requests * 3);
  fill(60, "many at once");
});

test("a rejection contains the wait in Retry-After", async () => {
  const clock = new ManualClock();
  const limits = createRateLimits(steadyClock(clock), () => 0);
  for (let at = 0; at < 2; at++) limits.admit("e", "purge-queue", response());
  await clock.advance(3500);
  expect(() => limits.admit("e", "purge-queue", response())).toThrow(
    expect.objectContaining({ status: 429, headers: { "retry-after": "7" } }),
  );
});
