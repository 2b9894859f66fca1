import { describe, expect, test } from "vitest";
import { recordRetryDelays, startRig } from "../../support/client-rig";
import { type Behaviour, json } from "../../support/faulty-server";
import { volumeRecord } from "../../support/records";

const volume = { name: "v", size: 10, dataCenterId: "EU-RO-1" };
/** A date of the service, whose clock differs from the client's by an hour. */
const serviceDate = (offset: number): string => new Date(Date.UTC(2026, 0, 1, 1) + offset).toUTCString();
const busy = (status: number, retryAfter?: string): Behaviour =>
  json({ message: "later" }, status, {
    date: serviceDate(0),
    ...(retryAfter === undefined ? {} : { "retry-after": retryAfter }),
  });

test("a create with a 429 is retried, because it was not applied", async () => {
  const { clients, result, requests } = await startRig([busy(429), busy(429), json(volumeRecord())]);
  await result(clients.management.createNetworkVolume(volume));
  expect(requests).toHaveLength(3);
});

describe.each([429, 503])("if the service responds with %i", (status) => {
  test.each([
    ["in seconds is obeyed", "7", 7000 + 0.5 * 1750],
    ["as a date is obeyed", serviceDate(9000), 9000 + 0.5 * 2000],
    ["that is invalid is ignored", "soon", 125],
  ])("a Retry-After %s", async (_what, retryAfter, wait) => {
    const { clients, clock, result } = await startRig([busy(status, retryAfter), json([])]);
    const { delays, onRetry } = recordRetryDelays();
    const start = clock.now();
    await result(clients.management.listEndpoints({ onRetry }));
    expect(delays).toEqual([wait]);
    expect(clock.now() - start).toBeGreaterThanOrEqual(wait);
  });

  test.each([
    ["of 0", "0"],
    ["in the past", serviceDate(-9000)],
  ])("a Retry-After %s keeps the backoff", async (_what, retryAfter) => {
    const { clients, failure } = await startRig([busy(status, retryAfter)]);
    const { delays, onRetry } = recordRetryDelays();
    await failure(clients.management.listEndpoints({ onRetry }));
    expect(delays.slice(0, 5)).toEqual([125, 250, 500, 1000, 2000]);
  });

  test("a Retry-After past the deadline fails immediately and names the wait", async () => {
    const { clients, clock, failure, requests } = await startRig([busy(status, "3600")], { callTimeout: 10_000 });
    const start = clock.now();
    const error = await failure(clients.management.listEndpoints());
    expect(error).toMatchObject({ category: "throttled", status, retryAfter: 3_600_000, ambiguous: false });
    expect(clock.now()).toBe(start);
    expect(requests).toHaveLength(1);
  });
});

test.each([429, 503])("Retry-After of a %i also delays the other calls to that address", async (status) => {
  const { clients, clock, result, requests } = await startRig((_request, count) =>
    count === 1 ? busy(status, "5") : json([]),
  );
  const first = clients.management.listEndpoints();
  while (clock.waiting === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  const others = Array.from({ length: 20 }, () => clients.management.listNetworkVolumes());
  await clock.advance(4999);
  expect(requests).toHaveLength(1);
  await result(Promise.all([first, ...others]));
  expect(requests).toHaveLength(22);
});

test("calls delayed by a 429 do not resume all at once", async () => {
  let seed = 0;
  const random = () => {
    seed = (seed + 0.37) % 1;
    return seed;
  };
  const { clients, clock, result } = await startRig((_request, count) => (count === 1 ? busy(429, "4") : json([])), {
    random,
  });
  const start = clock.now();
  const ends: number[] = [];
  const ended = () => void ends.push(clock.now() - start);
  const first = clients.management.listEndpoints().then(ended);
  while (clock.waiting === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  const others = Array.from({ length: 9 }, () => clients.management.listNetworkVolumes().then(ended));
  await result(Promise.all([first, ...others]));
  expect(new Set(ends).size).toBeGreaterThan(5);
  expect(Math.min(...ends)).toBeGreaterThanOrEqual(4000);
});

test("a paused address rejects calls whose deadline is before the end of the pause", async () => {
  const { clients, clock, failure, result, requests } = await startRig((_request, count) =>
    count === 1 ? busy(429, "30") : json([]),
  );
  const first = clients.management.listEndpoints();
  while (clock.waiting === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  const error = await failure(clients.management.listNetworkVolumes({ timeout: 1000 }));
  expect(error).toMatchObject({ category: "throttled", code: "rate_limited", ambiguous: false });
  expect(error.message).toContain("30 s");
  await result(first);
  expect(requests).toHaveLength(2);
});

test("a 429 of one job operation does not delay the others", async () => {
  const { clients, result, requests } = await startRig((request, count) =>
    count === 1
      ? busy(429, "60")
      : json(request.url.includes("cancel") ? { id: "j", status: "CANCELLED" } : { removed: 0, status: "completed" }),
  );
  const purge = clients.jobs.purgeQueue("ep");
  await expect.poll(() => requests.length).toBe(1);
  expect(await clients.jobs.cancel("ep", "j")).toMatchObject({ status: "CANCELLED" });
  expect(await result(purge)).toBe(0);
});

test("a call that waits for a limit used up by another call reports it, unless the wait is short", async () => {
  const { clients, clock, result } = await startRig((_request, count) =>
    count === 1 ? json([], 200, { ratelimit: '"minute";r=0;t=23' }) : json([]),
  );
  await result(clients.management.listEndpoints());
  const delays: number[] = [];
  const onPause = ({ delay }: { delay: number }) => void delays.push(delay);
  await clock.advance(3000);
  await result(clients.management.listEndpoints({ onPause }));
  expect(delays).toEqual([20_000]);
  const otherRig = await startRig([busy(429), json([]), json([])]);
  const first = otherRig.result(otherRig.clients.management.listEndpoints());
  await otherRig.result(otherRig.clients.management.listNetworkVolumes({ onPause }));
  await first;
  expect(delays).toHaveLength(1);
});

describe("in REST v2, with limits per user and errors as problem+json,", () => {
  const v2 = { dialect: "v2" } as const;
  const problem = (headers: Record<string, string>): Behaviour =>
    json({ title: "Too Many Requests", status: 429, detail: "rate limit exceeded for the minute window" }, 429, {
      "content-type": "application/problem+json",
      ...headers,
    });
  const template = json({ templates: [] });

  test.each([
    ["Retry-After", { "retry-after": "17" }, 17_000],
    ["RateLimit alone", { ratelimit: '"minute";r=0;t=17' }, 17_000],
    ["both, with a longer Retry-After", { "retry-after": "20", ratelimit: '"minute";r=0;t=17' }, 20_000],
    ["both, with a longer window", { "retry-after": "5", ratelimit: '"minute";r=0;t=12, "hour";r=0;t=30' }, 30_000],
    [
      "several limits, of which the longest exhausted one counts",
      { ratelimit: '"second";r=0;t=1, "minute";r=0;t=17, "day";r=9;t=999' },
      17_000,
    ],
  ])("a 429 with %s is retried after the stated wait", async (_what, headers, minimum) => {
    const { clients, clock, result, requests } = await startRig([problem(headers), template], v2);
    const { delays, onRetry } = recordRetryDelays();
    const start = clock.now();
    expect(await result(clients.management.listTemplates({ onRetry }))).toEqual([]);
    expect(requests).toHaveLength(2);
    expect(delays).toHaveLength(1);
    expect(delays[0]).toBeGreaterThanOrEqual(minimum);
    expect(clock.now() - start).toBeLessThan(minimum + 6000);
  });

  test.each(['"minute"', "nonsense", '"minute";r=;t=', '"minute";r=1;t=23', ""])(
    "a RateLimit of %j delays nothing",
    async (ratelimit) => {
      const { clients, clock, result } = await startRig([json({ templates: [] }, 200, { ratelimit }), template], v2);
      await result(clients.management.listTemplates());
      const start = clock.now();
      await result(clients.management.listTemplates());
      expect(clock.now()).toBe(start);
    },
  );
});

test.each([
  ["in its standard form", '"minute";r=0;t=23'],
  ["in its older form", "limit=60, remaining=0, reset=23"],
])("a RateLimit header %s without remaining calls delays the next one, also after a success", async (_form, value) => {
  const { clients, clock, result } = await startRig([json([], 200, { ratelimit: value }), json([])]);
  await result(clients.management.listEndpoints());
  const start = clock.now();
  await result(clients.management.listEndpoints());
  expect(clock.now() - start).toBeGreaterThanOrEqual(23_000);
});
