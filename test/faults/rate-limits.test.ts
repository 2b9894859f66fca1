import { expect, onTestFinished, test } from "vitest";
import { explain } from "../../provider/lifecycle/messages";
import { kinds } from "../../provider/resources";
import { apiErrorOf } from "../support/client-rig";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { send } from "../support/raw-http";

/** Limit of REST v2 requests per user and minute in the local service. */
const limit = 1000;

const bench = await useLifecycleBench();
const context = () => bench.context({}, "v2");

/** Exhausts the limit with another client; returns the end of its window. */
async function useUp(): Promise<number> {
  const end = bench.clock.now() + 60_000;
  const { apiKey, baseUrl } = bench.addresses;
  const url = `${new URL(baseUrl).origin}/v2/catalog/cpus`;
  for (let sent = 0; sent < limit; sent += 100) {
    const wave = Array.from({ length: 100 }, () => send("GET", url, { key: apiKey }));
    for (const { status } of await Promise.all(wave)) expect(status).toBe(200);
  }
  return end;
}

const isRefused = async (): Promise<boolean> => {
  const { apiKey, baseUrl } = bench.addresses;
  return (await send("GET", `${new URL(baseUrl).origin}/v2/templates`, { key: apiKey })).status === 429;
};

test("a call that cannot wait for the end of a limit fails and names the wait; a deployment waits and reports it", async () => {
  // Only waits advance the window, not the duration of a thousand requests.
  onTestFinished(bench.clock.freeze());
  const end = await useUp();
  expect(await isRefused()).toBe(true);
  const error = await apiErrorOf(context().clients.management.listTemplates({ timeout: 2000 }));
  expect(error).toMatchObject({ category: "throttled", code: "rate_limited", status: 429, ambiguous: false });
  expect(error.message).toBe("rate limit exceeded for the minute window");
  expect(error.retryAfter).toBeGreaterThan(2000);
  expect(error.retryAfter).toBeLessThanOrEqual(60_000);
  expect(explain(error, { label: 'Template "chat"', verb: "read" })).toBe(
    `Template "chat": still rate limited by ${bench.proxy.origin} after retries. Try again later.`,
  );

  bench.drainRequests();
  const one = context();
  const { NetworkVolume } = kinds;
  const inputs = NetworkVolume.check({}, { size: 10, dataCenterId: "EU-RO-1" }, naming("models-dev")).inputs;
  await NetworkVolume.create(inputs, one);
  // The end of the window to the second, because headers contain whole seconds.
  expect(bench.clock.now()).toBeGreaterThanOrEqual(end - 1000);
  expect(one.progressMessages).toEqual([expect.stringMatching(/^request failed; retrying in \d\d s \(attempt 2\)$/)]);
  // The list before the create was rejected once; no later request was.
  expect(bench.drainRequests()).toEqual(["GET", "GET", "POST"].map((method) => `${method} /v2/network-volumes`));
});
