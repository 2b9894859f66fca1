import { rmSync, writeFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { apiKey, useLoadBalancer } from "./support/load-balancer";
import { scratchFile } from "./support/programs";

// Real processes on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

test("a request reaches the PORT of a worker with its method, path, query, headers and body", async () => {
  const { seen, id, rig } = await useLoadBalancer({ env: { PORT: "80", VERSION: "1" } });
  const init = { method: "PUT", body: "text".repeat(100), headers: { "x-mine": "1", "content-type": "text/plain" } };
  const { version, method, url, headers, body, port } = await seen("/a%2Fb//c?d=e%20f&g", init);
  expect({ version, method, url, body }).toEqual({
    version: "1",
    method: "PUT",
    url: "/a%2Fb//c?d=e%20f&g",
    body: { bytes: 400, text: "text".repeat(100) },
  });
  expect(headers).toMatchObject({ "x-mine": "1", "content-type": "text/plain", "content-length": "400" });
  expect(headers).toMatchObject({ "x-forwarded-prefix": `/load-balancers/${id}`, "x-forwarded-proto": "http" });
  expect(headers).not.toHaveProperty("authorization");
  expect(port).not.toBe("80");
  expect((await rig.workerLog(id)).includes(apiKey)).toBe(false);
});

test("a response keeps its status, repeated headers and body", async () => {
  const { request } = await useLoadBalancer({ env: { VERSION: "1" } });
  const response = await request("/?status=418&bytes=100000");
  expect([response.status, response.headers.get("x-version")]).toEqual([418, "1"]);
  expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  expect(await response.text()).toBe("x".repeat(100_000));
  const head = await request("/", { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
});

test("a request needs the key and a load balancing endpoint", async () => {
  const { url, rig, request } = await useLoadBalancer({ workers: { min: 0, max: 0 } });
  for (const headers of [{}, { authorization: "Bearer wrong" }]) {
    const response = await fetch(`${url}/ping`, { headers });
    expect([response.status, await response.json()]).toEqual([
      401,
      { error: expect.stringContaining("the API key is missing or wrong") },
    ]);
  }
  const queue = await rig.endpoint("acme/server", { workersMax: 0 });
  for (const id of [queue.id, "unknown"]) {
    const response = await request(`/../${id}/ping`);
    expect([response.status, await response.json()]).toEqual([
      404,
      { error: `load balancing endpoint "${id}" not found` },
    ]);
  }
});

test("a request waits until a health check of its worker returns 200; 204 is initializing", async () => {
  const { seen, workers } = await useLoadBalancer({ env: { WARM_UP: "10" } });
  const early = seen("/");
  await expect.poll(workers).toMatchObject([{ status: "INITIALIZING" }]);
  expect((await early).version).toBe("none");
  expect(await workers()).toMatchObject([{ status: "IDLE" }]);
});

test("health checks use PORT_HEALTH and HEALTH_CHECK_PATH", async () => {
  const env = { PORT: "8000", PORT_HEALTH: "8001", HEALTH_CHECK_PATH: "/healthy?deep=1" };
  const { seen, request } = await useLoadBalancer({ env });
  expect((await seen("/ping")).url).toBe("/ping");
  expect((await request("/healthy?deep=1")).status).toBe(200);
});

test("a server needs one port if the template sets no PORT_HEALTH", async () => {
  const { seen } = await useLoadBalancer({ env: { PORT: "8000" } });
  const { port, env } = await seen("/");
  expect(env).toMatchObject({ PORT_HEALTH: port });
});

test.each([
  [{ PORT: "http" }, 'env.PORT: "http" is not allowed, must be a port from 1 to 65535'],
  [{ PORT_HEALTH: "0" }, 'env.PORT_HEALTH: "0" is not allowed'],
  [{ HEALTH_CHECK_PATH: "ping" }, 'env.HEALTH_CHECK_PATH: "ping" is not allowed, must be a path such as /ping'],
])("a request to workers with %j gets 400 with the fault", async (env, fault) => {
  const { request } = await useLoadBalancer({ env }, { requestWait: 300 });
  const response = await request("/");
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({ error: expect.stringMatching(/^no workers available within 0.3 s: /) });
  expect(JSON.stringify(await (await request("/")).json())).toContain(JSON.stringify(fault).slice(1, -1));
});

test("a request without a healthy worker in time gets 400 with the last health check", async () => {
  const timings = { requestWait: 1500, takeSilence: 200 };
  const fields = { env: { BREAKS: "health" }, workers: { min: 1, max: 1 } };
  const { request, workers } = await useLoadBalancer(fields, timings);
  await expect.poll(workers).toMatchObject([{ status: "UNHEALTHY" }]);
  const response = await request("/");
  expect([response.status, await response.json()]).toEqual([
    400,
    {
      error: expect.stringMatching(
        /no workers available within 1.5 s: workers of the image "acme\/server:1" are not healthy: local-\w+ has run for \d+ s; GET \/ping on port \d+ returned 500; its program must return 200 to health checks/,
      ),
    },
  ]);
  expect(await workers()).toMatchObject([{ status: "UNHEALTHY" }]);
});

test("requests get 502 with the last lines of workers that end before they are healthy", async () => {
  const { request } = await useLoadBalancer({ env: { BREAKS: "start", VERSION: "7" } });
  const response = await request("/");
  expect([response.status, await response.json()]).toEqual([
    502,
    {
      error: expect.stringMatching(
        /ended with exit code 3, before it was healthy; its last lines:\nversion 7 cannot start/,
      ),
    },
  ]);
});

test("a worker that becomes unhealthy gets no more requests until it is healthy again", async () => {
  const { request, workers, seen, rolledOut } = await useLoadBalancer(
    { workers: { min: 1, max: 1 } },
    { requestWait: 300, takeSilence: 60_000 },
  );
  await rolledOut(1);
  await seen("/?health=503");
  await expect.poll(workers).toMatchObject([{ status: "UNHEALTHY" }]);
  expect((await request("/")).status).toBe(400);
});

test("an unhealthy worker is replaced", async () => {
  const { workers, seen } = await useLoadBalancer({}, { takeSilence: 300, secondLook: 50 });
  const { pid } = await seen("/?health=503");
  await expect.poll(workers).toMatchObject([{ status: "UNHEALTHY" }]);
  expect((await seen("/")).pid).not.toBe(pid);
});

test("a worker that exceeds the time limit gets its client 524, and one that ends 502", async () => {
  const { request } = await useLoadBalancer({ workers: { min: 0, max: 2 } }, { requestProcessing: 1000 });
  const late = await request("/?ms=60000");
  expect([late.status, await late.json()]).toEqual([
    524,
    { error: expect.stringMatching(/^worker local-\w+: did not finish in 1 s$/) },
  ]);
  const dead = await request("/?die");
  expect([dead.status, await dead.json()]).toEqual([
    502,
    { error: expect.stringMatching(/^worker local-\w+: the request failed: /) },
  ]);
});

test("a response that ends early ends the client's connection", async () => {
  const { request, seen } = await useLoadBalancer();
  const response = await request("/?cut");
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow();
  await seen("/");
});

const limit = 30 * 1024 ** 2;

test("bodies of 30 MB pass in both directions, and larger ones do not", async () => {
  const { seen, request } = await useLoadBalancer();
  const whole = Buffer.alloc(limit, "x");
  expect((await seen("/", { method: "POST", body: whole })).body.bytes).toBe(limit);
  const chunked = async (...parts: Buffer[]) => {
    const body = new Blob(parts).stream();
    return request("/", { method: "POST", body, duplex: "half" } as RequestInit);
  };
  expect((await chunked(whole)).status).toBe(200);
  for (const send of [
    () => chunked(whole, Buffer.alloc(1)),
    () => request("/", { method: "POST", body: Buffer.alloc(limit + 1) }),
  ]) {
    const response = await send();
    expect([response.status, await response.json()]).toEqual([
      413,
      { error: "body: is too large; the limit is 30 MB (31457280 bytes)" },
    ]);
  }
  const most = await request(`/?bytes=${limit}`);
  expect((await most.arrayBuffer()).byteLength).toBe(limit);
  await expect(request(`/?bytes=${limit + 1}`).then((response) => response.arrayBuffer())).rejects.toThrow();
});

test("requests start one worker for each requestCount, and idle workers end", async () => {
  const { request, workers } = await useLoadBalancer({
    scaling: { type: "REQUEST_COUNT", requestCount: 2 },
    workers: { min: 0, max: 3, idleTimeout: 1 },
  });
  const until = scratchFile();
  const open = Array.from({ length: 5 }, () => request(`/?until=${until}`));
  await expect.poll(async () => (await workers()).length).toBe(3);
  writeFileSync(until, "");
  expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  await expect.poll(workers).toEqual([]);
  rmSync(until);
});

test("the client's disconnection ends the request to the worker, which is free again", async () => {
  const { request, workers } = await useLoadBalancer({ workers: { min: 1, max: 1 } });
  const client = new AbortController();
  const lost = request("/?ms=60000", { signal: client.signal });
  await expect.poll(workers).toMatchObject([{ status: "RUNNING" }]);
  client.abort();
  await expect(lost).rejects.toThrow();
  await expect.poll(workers).toMatchObject([{ status: "IDLE" }]);
});

test("a deleted endpoint's waiting requests get 404", async () => {
  const { request, rig, id } = await useLoadBalancer({ workers: { min: 0, max: 0 } });
  const waiting = request("/");
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect((await rig.jobs("serverless").call("DELETE", `/${id}`)).status).toBe(204);
  expect((await waiting).status).toBe(404);
});

test("the service waits for open requests when it stops, and rejects those without a worker", async () => {
  const balancer = await useLoadBalancer({ workers: { min: 1, max: 1 } });
  const until = scratchFile();
  const open = balancer.request(`/?until=${until}`);
  await expect.poll(balancer.workers).toMatchObject([{ status: "RUNNING" }]);
  const stopped = balancer.rig.stop(60_000);
  expect((await balancer.request("/")).status).toBe(503);
  writeFileSync(until, "");
  expect((await open).status).toBe(200);
  await stopped;
});

test("injected faults delay and reject requests, and drop responses", async () => {
  const { request, rig, id, seen } = await useLoadBalancer();
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const body = JSON.stringify({ tooManyRequests: 1, serverErrors: 1, dropResponses: 1 });
  await fetch(`${rig.root}/local/endpoints/${id}/faults`, { method: "PUT", headers, body });
  expect([(await request("/")).status, (await request("/")).status]).toEqual([429, 500]);
  await expect(request("/")).rejects.toThrow();
  await seen("/");
});

test("workers have no variables of the job queue, and their token opens no channel", async () => {
  const { seen, rig, id } = await useLoadBalancer();
  const { env } = await seen("/");
  expect(
    Object.keys(env)
      .filter((name) => name.startsWith("RUNPOD_"))
      .sort(),
  ).toEqual(["RUNPOD_AI_API_KEY", "RUNPOD_DEBUG_LEVEL", "RUNPOD_ENDPOINT_ID", "RUNPOD_POD_ID"]);
  const token = { authorization: String(env["RUNPOD_AI_API_KEY"]) };
  expect((await rig.jobs(id).call("GET", "/job-take/me", undefined, token)).status).toBe(404);
});
