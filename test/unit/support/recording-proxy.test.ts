import { expect, onTestFinished, test } from "vitest";
import { json, startFaultyServer } from "../../support/faulty-server";
import { type Fault, startRecordingProxy } from "../../support/recording-proxy";

async function start() {
  const origin = await startFaultyServer([json({ fine: true }, 201, { "x-kept": "yes" })]);
  const proxy = await startRecordingProxy(origin.origin);
  onTestFinished(() => proxy.close());
  const post = (path: string, body = "{}") =>
    fetch(proxy.origin + path, { method: "POST", body, headers: { authorization: "Bearer k" } });
  return { origin, proxy, post };
}

const faults: [Fault, reached: number, status: number | "no response"][] = [
  [{ kind: "dropRequest" }, 0, "no response"],
  [{ kind: "dropResponse" }, 1, "no response"],
  [{ kind: "reset" }, 0, "no response"],
  [{ kind: "reset", applied: true }, 1, "no response"],
  [{ kind: "halfBody" }, 1, "no response"],
  [{ kind: "delayRequest", ms: 30 }, 1, 201],
  [{ kind: "status", status: 429, retryAfter: "3" }, 0, 429],
  [{ kind: "status", status: 503 }, 0, 503],
  [{ kind: "status", status: 500, applied: true }, 1, 500],
  [{ kind: "status", status: 502 }, 0, 502],
  [{ kind: "status", status: 504, applied: true }, 1, 504],
];

test.each(faults)(
  "%j reaches the origin %i times and the client receives %s; the next request passes",
  async (fault, reachedCount, status) => {
    const { origin, proxy, post } = await start();
    proxy.inject({}, fault);
    const response = await post("/x").then(
      async (received) =>
        received.text().then(
          () => received,
          () => undefined,
        ),
      () => undefined,
    );
    expect(response?.status ?? "no response").toBe(status);
    expect(origin.requests).toHaveLength(reachedCount);
    expect(proxy.requests[0]).toMatchObject({ fault: fault.kind, applied: reachedCount === 1 });
    if (fault.kind === "status") expect(response?.headers.get("retry-after")).toBe(fault.retryAfter ?? null);
    expect(proxy.pendingFaults()).toBe(0);
    expect((await post("/x")).status).toBe(201);
  },
);

test("a fault applies only to matching requests, as often as injected", async () => {
  const { proxy, post } = await start();
  proxy.inject({ method: "POST", path: "/a" }, { kind: "status", status: 500 }, 2);
  proxy.inject({ path: /^\/b/, body: /saveTemplate/ }, { kind: "status", status: 502 });
  const statuses: number[] = [];
  for (const [path, body] of [
    ["/c", ""],
    ["/a", ""],
    ["/a", ""],
    ["/a", ""],
    ["/b/1", "other"],
    ["/b/1", "saveTemplate"],
  ] as const) {
    statuses.push((await post(path, body)).status);
  }
  expect(statuses).toEqual([201, 500, 500, 201, 201, 502]);
});

test("forwards to the current origin and returns 502 if it is unreachable", async () => {
  const { origin, proxy, post } = await start();
  const otherServer = await startFaultyServer([json({}, 202)]);
  proxy.forwardTo(otherServer.origin);
  expect((await post("/x")).status).toBe(202);
  await otherServer.close();
  expect((await post("/x")).status).toBe(502);
  proxy.forwardTo(origin.origin);
  expect((await post("/x")).status).toBe(201);
});
