import { describe, expect, test } from "vitest";
import { expectResponse, type OpenUpload, openUpload, pollUntil, type RawResponse, send } from "../support/raw-http";
import { skip, useTarget } from "../support/target";
import { useAccount } from "./support/account";
import { joinAsWorker } from "./support/raw-worker";

const target = await useTarget();
const account = useAccount(target);
const rates: [string, string, string, number, number][] = [
  ["/run", "POST", "/run", 1000, 50],
  ["/status", "GET", "/status/nosuchjob", 2000, 50],
  ["/cancel", "POST", "/cancel/nosuchjob", 100, 10],
  ["/purge-queue", "POST", "/purge-queue", 2, 1],
  ["/requests", "GET", "/requests", 10, 1],
];

/** Sends `count` requests, at most `concurrency` at once. Returns their statuses in the order of sending. */
async function burst(count: number, concurrency: number, request: () => Promise<RawResponse>): Promise<number[]> {
  const statuses: number[] = [];
  while (statuses.length < count) {
    const wave = Array.from({ length: Math.min(concurrency, count - statuses.length) }, request);
    statuses.push(...(await Promise.all(wave)).map(({ status }) => status));
  }
  return statuses;
}

const throttled = (statuses: number[]): number => statuses.filter((status) => status === 429).length;

/** Asserts the response of a rejected request. */
function expectThrottled(response: RawResponse): void {
  expectResponse(response, 429);
  expect(Number(response.headers.get("retry-after")), "Retry-After in seconds").toBeGreaterThan(0);
  expect(Number(response.headers.get("retry-after"))).toBeLessThanOrEqual(10);
  expect(response.json, response.text).toBeInstanceOf(Object);
}

describe("Rate limits (per endpoint and operation): rate", () => {
  test.for(rates)(
    "%s: %s %s returns 429 above %i requests per 10 seconds, and not before",
    async ([_name, method, path, limit, concurrency], context) => {
      target.freezeClock(context);
      const jobs = await account.parked();
      const request = () => jobs.call(method, path, path === "/run" ? { input: {} } : undefined);
      const started = Date.now();
      expect(throttled(await burst(limit, concurrency, request)), "rejections below the limit").toBe(0);
      const over = await request();
      if (target.isExternal && Date.now() - started >= 10_000)
        skip(context, "the machine is too slow to reach the limit within 10 s");
      expectThrottled(over);
    },
  );

  test("each operation and each endpoint has its own limit", async () => {
    const [jobs, other] = [await account.parked(), await account.parked()];
    expect(throttled(await burst(3, 1, () => jobs.call("POST", "/purge-queue")))).toBe(1);
    expectResponse(await jobs.run({}), 200);
    expectResponse(await other.call("POST", "/purge-queue"), 200);
  });
});

describe("Rate limits (per endpoint and operation): dynamic rule", { tags: ["reading:running-workers"] }, () => {
  test("idle workers raise the limit like busy workers", async (context) => {
    const worker = await joinAsWorker(target, account, context);
    const workers = 40;
    const ids = await Promise.all(Array.from({ length: workers }, () => worker.jobs.submit({})));
    await Promise.all(Array.from({ length: workers }, (_, n) => worker.take(undefined, `conformance-worker-${n}`)));
    await Promise.all(ids.map((id) => worker.jobs.cancel(id)));
    const leaving = new AbortController();
    const takes = Array.from({ length: workers }, (_, n) =>
      worker.take(leaving.signal, `conformance-worker-${n}`).catch(() => undefined),
    );
    await expect.poll(worker.jobs.health).toMatchObject({ workers: { running: 0, ready: workers } });
    leaving.abort();
    await Promise.all(takes);
    expect(await worker.jobs.health()).toMatchObject({ workers: { running: 0, idle: workers } });
    const statuses = await burst(20, 1, () => worker.jobs.call("POST", "/purge-queue"));
    expect(statuses.length - throttled(statuses)).toBe(8);
  });
});

describe("Rate limits (per endpoint and operation): concurrent", () => {
  /** Opens `count` concurrent requests. Returns the number of rejected requests. */
  async function countRejected(count: number, hold: (signal: AbortSignal) => Promise<RawResponse>): Promise<number> {
    const end = new AbortController();
    let rejected = 0;
    const pending = Array.from({ length: count }, () =>
      hold(end.signal).then(
        ({ status }) => {
          if (status === 429) rejected += 1;
        },
        () => undefined,
      ),
    );
    await expect.poll(() => rejected).toBeGreaterThan(0);
    // The other requests stay pending; a request after them is also rejected.
    expectThrottled(await hold(end.signal));
    end.abort();
    await Promise.all(pending);
    return rejected;
  }

  test.each([
    ["/runsync", "POST", "/runsync?wait=60000", { input: {} }],
    ["/stream", "GET", "/stream/{job_id}", undefined],
    ["/openai/*", "POST", "/openai/v1/chat/completions", { model: "acme" }],
  ])("%s: the 401st concurrent request returns 429", async (_operation, method, path, json) => {
    const jobs = await account.parked();
    const url = jobs.root + path.replace("{job_id}", await jobs.submit({}));
    const rejected = await countRejected(401, (signal) => send(method, url, { key: target.apiKey, json, signal }));
    expect(rejected).toBe(1);
  });

  for (const [operation, path, concurrent] of [
    ["/run", "/run", 200],
    ["/cancel", "/cancel/nosuchjob", 20],
  ] as const) {
    test(`${operation}: the ${concurrent + 1}st concurrent request returns 429, and the next request is accepted after another has ended`, async () => {
      const jobs = await account.parked();
      const uploads: OpenUpload[] = [];
      const refused = new Set<OpenUpload>();
      try {
        for (let n = 0; n <= concurrent; n += 1) {
          const upload = await openUpload(`${jobs.root}${path}`, target.apiKey, { input: {} });
          uploads.push(upload);
          void upload.status.then((status) => status === 429 && refused.add(upload));
        }
        await expect.poll(() => refused.size).toBe(1);
        expectThrottled(await jobs.call("POST", path, { input: {} }));
        const taken = uploads.find((upload) => !refused.has(upload));
        taken?.finish();
        expect(await taken?.status).not.toBe(429);
        const next = await pollUntil(
          () => jobs.call("POST", path, { input: {} }),
          ({ status }) => status !== 429,
        );
        expect(next.status).toBeLessThan(429);
      } finally {
        for (const upload of uploads) upload.abort();
      }
    });
  }
});
