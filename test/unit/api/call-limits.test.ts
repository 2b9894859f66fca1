import { type CallOptions, type ClientSettings, type ManagementClient, systemClock } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import { apiErrorOf, startRig } from "../../support/client-rig";
import { type Behaviour, json } from "../../support/faulty-server";

test("calls above the limit of calls in flight wait, and complete once others end", async () => {
  const { clients, requests } = await startRig((_request, count) => (count <= 3 ? { action: "hang" } : json([])), {
    maxInFlight: 3,
    attemptTimeout: 10_000,
  });
  const controller = new AbortController();
  const hanging = Array.from({ length: 3 }, () => clients.management.listEndpoints({ signal: controller.signal }));
  await expect.poll(() => requests.length).toBe(3);
  const waiting = Array.from({ length: 5 }, () => clients.management.listEndpoints());
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(requests).toHaveLength(3);
  controller.abort(new Error("enough"));
  await expect(Promise.all(hanging)).rejects.toThrow("enough");
  await Promise.all(waiting);
  expect(requests).toHaveLength(8);
});

test.each([
  [500, "server_error", 600, 3],
  [429, "rate_limited", 120_000, 12],
])(
  "the deadline ends a call to a service that returns %i between attempts",
  async (status, code, callTimeout, most) => {
    const { clients, clock, failure, requests } = await startRig([{ action: "respond", status }], { callTimeout });
    const start = clock.now();
    expect(await failure(clients.management.listEndpoints())).toMatchObject({ code });
    expect(requests.length).toBeGreaterThan(2);
    expect(requests.length).toBeLessThanOrEqual(most);
    expect(clock.now() - start).toBeLessThanOrEqual(callTimeout);
  },
);

test("a call's own deadline also shortens a hanging attempt", async () => {
  const { clients, failure, result, requests } = await startRig([json([]), { action: "hang" }], {
    attemptTimeout: 10_000,
  });
  // On an open connection, only the response can be late.
  await result(clients.management.listEndpoints());
  const error = await failure(clients.management.listEndpoints({ timeout: 100 }));
  expect(error).toMatchObject({ category: "timeout", code: "response_timeout", ambiguous: false });
  expect(error.message).toBe("no response within 0.1 s");
  expect(requests.length).toBeLessThanOrEqual(2);
});

test.each([{ attemptTimeout: 20 }, { callTimeout: 20 }])("a long /runsync is not cut off by %j", async (setting) => {
  const { clients, requests } = await startRig([{ action: "hang" }], setting);
  const controller = new AbortController();
  const call = clients.jobs.runsync("ep", { input: {} }, { wait: 5000, signal: controller.signal });
  call.catch(() => undefined);
  await expect.poll(() => requests.length).toBe(1);
  const first = await Promise.race([call, new Promise((resolve) => setTimeout(resolve, 50, "still waiting"))]);
  expect(first).toBe("still waiting");
  controller.abort(new Error("enough"));
  await expect(call).rejects.toThrow("enough");
});

const reason = new Error("the person pressed Ctrl-C");
const stages: [string, Behaviour, (requests: unknown[], waiting: () => number) => boolean][] = [
  ["the request is in flight", { action: "hang" }, (requests) => requests.length === 1],
  ["it waits before a retry", { action: "respond", status: 500 }, (_requests, waiting) => waiting() === 1],
  [
    "it waits as long as a Retry-After requires",
    { action: "respond", status: 429, headers: { "retry-after": "60" } },
    (_requests, waiting) => waiting() === 1,
  ],
];

test.each(stages)("an abort ends a call with the signal's reason while %s", async (_when, behaviour, reached) => {
  const { clients, clock, requests } = await startRig([behaviour]);
  const controller = new AbortController();
  const call = clients.management.listEndpoints({ signal: controller.signal });
  const outcome = call.catch((error: unknown) => error);
  await expect.poll(() => reached(requests, () => clock.waiting)).toBe(true);
  controller.abort(reason);
  expect(await outcome).toBe(reason);
  expect(requests).toHaveLength(1);
});

const sharedReads: [
  string,
  ClientSettings["dialect"],
  (management: ManagementClient, options: CallOptions) => Promise<unknown>,
][] = [
  ["the catalog", "v2", (management, options) => management.listGpuTypes(options)],
  [
    "the catalog of a new endpoint",
    "v2",
    (management, options) => management.createEndpoint({ imageName: "a:1" }, options),
  ],
  [
    "the template of a new endpoint",
    "v2",
    (management, options) => management.createEndpoint({ templateId: "t1" }, options),
  ],
  [
    "the catalog of a new endpoint",
    "v1",
    (management, options) => management.createEndpoint({ templateId: "t1", gpuPools: ["ADA_24"] }, options),
  ],
];

test.each(sharedReads)(
  "an abort ends only its own call while calls wait for %s in REST %s",
  async (_what, dialect, call) => {
    const { clients, requests } = await startRig([{ action: "hang" }], { dialect });
    const controllers = [new AbortController(), new AbortController()] as const;
    const outcomes = controllers.map(({ signal }) =>
      call(clients.management, { signal }).catch((error: unknown) => error),
    );
    await expect.poll(() => requests.length).toBe(1);
    controllers[0].abort(reason);
    expect(await outcomes[0]).toBe(reason);
    const later = new Error("later");
    controllers[1].abort(later);
    expect(await outcomes[1]).toBe(later);
  },
);

test("an abort during the connection sends nothing", async () => {
  const { clients, requests, connections } = await startRig([json([])]);
  const controller = new AbortController();
  const outcome = clients.management.listEndpoints({ signal: controller.signal }).catch((error: unknown) => error);
  await new Promise((resolve) => process.nextTick(resolve));
  controller.abort(reason);
  expect(await outcome).toBe(reason);
  await expect.poll(() => connections()).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(requests).toHaveLength(0);
  expect(clients.requestCount()).toBe(0);
});

test("a call with an aborted signal sends nothing", async () => {
  const { clients, requests } = await startRig([json([])]);
  await expect(clients.management.listEndpoints({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  await expect(clients.management.listSecrets({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(requests).toHaveLength(0);
});

test("many calls with one signal raise no warning", async () => {
  const warnings: Error[] = [];
  const recordWarning = (warning: Error) => void warnings.push(warning);
  process.on("warning", recordWarning);
  const { clients } = await startRig([json([])]);
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 60 }, () => clients.management.listEndpoints({ signal })));
  await new Promise((resolve) => setTimeout(resolve, 5));
  process.off("warning", recordWarning);
  expect(warnings.map(({ message }) => message)).toEqual([]);
});

test("requests are counted including their retries", async () => {
  const { clients, result } = await startRig([{ action: "respond", status: 500 }, { action: "hang up" }, json([])]);
  await result(clients.management.listEndpoints());
  expect(clients.requestCount()).toBe(3);
  await apiErrorOf(clients.management.deleteEndpoint(""));
  expect(clients.requestCount()).toBe(3);
});

test("connections are reused", async () => {
  const { clients, connections } = await startRig([json([])]);
  for (let i = 0; i < 10; i += 1) await clients.management.listEndpoints();
  // Two, because a response can arrive before its connection is free again.
  expect(connections()).toBeLessThanOrEqual(2);
});

describe.each(["v1", "v2"] as const)("in REST %s, the timeout of a call", (dialect) => {
  const gpuPools = ["ADA_24"];
  const calls: [string, (management: ManagementClient, options: CallOptions) => Promise<unknown>][] = [
    ["createEndpoint", (management, options) => management.createEndpoint({ templateId: "t", gpuPools }, options)],
    ["updateEndpoint", (management, options) => management.updateEndpoint("e", { gpuPools }, options)],
  ];
  // REST v1 sends a request for each call.
  if (dialect === "v2") calls.push(["listGpuTypes", (management, options) => management.listGpuTypes(options)]);

  test.each(calls)("of %s also ends the wait for a response that several calls share", async (_name, call) => {
    const { clients, requests } = await startRig([{ action: "hang" }], { dialect, clock: systemClock });
    const controller = new AbortController();
    let isFirstWaiting = true;
    const first = call(clients.management, { signal: controller.signal }).finally(() => {
      isFirstWaiting = false;
    });
    first.catch(() => undefined);
    await expect.poll(() => requests.length).toBe(1);
    const error = await apiErrorOf(call(clients.management, { timeout: 50 }));
    expect(error).toMatchObject({ category: "timeout", code: "response_timeout", ambiguous: false });
    // The timeout includes the time before the wait.
    expect(Number(/^no response within ([\d.]+) s$/.exec(error.message)?.[1])).toBeLessThanOrEqual(0.05);
    expect({ isFirstWaiting, requests: requests.length }).toEqual({ isFirstWaiting: true, requests: 1 });
    expect(await apiErrorOf(call(clients.management, { timeout: Number.NaN }))).toMatchObject({
      code: "invalid_argument",
    });
    controller.abort(new Error("enough"));
    await expect(first).rejects.toThrow("enough");
  });
});
