import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { rateLimits } from "serverless-compute-api/shapes";
import { expect, test } from "vitest";
import { createRateLimits } from "../../../../service/api/admission";
import { ServiceError } from "../../../../service/errors";
import { ManualClock } from "../../../support/manual-clock";

const answer = () => ({ raw: new ServerResponse(new IncomingMessage(new Socket())) });

/** Number of admitted requests of `count`, each finished immediately. */
function admitted(limits: ReturnType<typeof createRateLimits>, count: number, endpointId = "e"): number {
  let through = 0;
  for (let at = 0; at < count; at++) {
    const reply = answer();
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

test("in any 10 seconds no more requests than the limit are admitted", async () => {
  const clock = new ManualClock();
  const limits = createRateLimits(clock, () => 0);
  expect(admitted(limits, 60)).toBe(60);
  await clock.advance(9000);
  expect(admitted(limits, 60)).toBe(40);
  await clock.advance(999);
  expect(admitted(limits, 1)).toBe(0);
  await clock.advance(1);
  expect(admitted(limits, 100)).toBe(60);
});

test("a clock that is set back does not lock out clients", async () => {
  const clock = new ManualClock();
  const limits = createRateLimits(clock, () => 0);
  expect(admitted(limits, 101)).toBe(100);
  await clock.advance(-3_600_000);
  expect(admitted(limits, 101)).toBe(100);
});

test("many running workers raise the limit above the base (dynamic rule), few do not", () => {
  const clock = new ManualClock();
  let workers = 10;
  const limits = createRateLimits(clock, () => workers);
  expect(admitted(limits, 500, "few")).toBe(rateLimits.cancel.requests);
  workers = 30;
  expect(admitted(limits, 500, "many")).toBe(rateLimits.cancel.requests * 3);
});

test("many running workers raise the limit of concurrent requests, few do not", () => {
  let workers = 10;
  const limits = createRateLimits(new ManualClock(), () => workers);
  const open = (count: number, endpointId: string): void => {
    for (let at = 0; at < count; at++) limits.admit(endpointId, "cancel", answer());
  };
  open(20, "few");
  expect(() => open(1, "few")).toThrow("20 concurrent requests");
  workers = 30;
  open(60, "many");
  expect(() => open(1, "many")).toThrow("60 concurrent requests");
});

test("a rejection contains the wait", async () => {
  const clock = new ManualClock();
  const limits = createRateLimits(clock, () => 0);
  for (let at = 0; at < 2; at++) limits.admit("e", "purge-queue", answer());
  await clock.advance(3500);
  expect(() => limits.admit("e", "purge-queue", answer())).toThrow(
    expect.objectContaining({ status: 429, headers: { "retry-after": "7" } }),
  );
});

test("concurrent requests count until their response ends, in whatever way", () => {
  const limits = createRateLimits(new ManualClock(), () => 0);
  const open = Array.from({ length: 20 }, answer);
  for (const reply of open) limits.admit("e", "cancel", reply);
  expect(() => limits.admit("e", "cancel", answer())).toThrow("20 concurrent requests");
  open[0]?.raw.emit("close");
  expect(() => limits.admit("e", "cancel", answer())).not.toThrow();
});
