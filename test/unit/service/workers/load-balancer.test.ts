import { writeFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { apiKey } from "../../../support/local-service";
import { OffsetClock } from "../../../support/offset-clock";
import { useLoadBalancer } from "./support/load-balancer";
import { scratchFile } from "./support/programs";

// Real processes on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

test("a request reaches a worker with its method, path, query, headers and body, without the key, and its response reaches the client", async () => {
  const { received, request, id, rig } = await useLoadBalancer({ env: { VERSION: "1" } });
  const init = { method: "PUT", body: "text".repeat(100), headers: { "x-mine": "1", "content-type": "text/plain" } };
  const { version, method, url, headers, body } = await received("/a%2Fb//c?d=e%20f&g", init);
  expect({ version, method, url, body }).toEqual({
    version: "1",
    method: "PUT",
    url: "/a%2Fb//c?d=e%20f&g",
    body: { bytes: 400, text: "text".repeat(100) },
  });
  expect(headers).toMatchObject({ "x-mine": "1", "content-type": "text/plain", "content-length": "400" });
  expect(headers).toMatchObject({ "x-forwarded-prefix": `/load-balancers/${id}`, "x-forwarded-proto": "http" });
  expect(headers).not.toHaveProperty("authorization");
  expect((await rig.workerLog(id)).includes(apiKey)).toBe(false);

  const response = await request("/?status=418&bytes=100000");
  expect([response.status, response.headers.get("x-version")]).toEqual([418, "1"]);
  expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  expect(await response.text()).toBe("x".repeat(100_000));
  const head = await request("/", { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
});

test("a worker has a free port, no variables of the job queue, and a token that the worker channel rejects", async () => {
  const { received, rig, id } = await useLoadBalancer({ env: { PORT: "80" } });
  const { env, port } = await received("/");
  expect(port).not.toBe("80");
  expect(env).toMatchObject({ PORT_HEALTH: port });
  expect(
    Object.keys(env)
      .filter((name) => name.startsWith("RUNPOD_"))
      .sort(),
  ).toEqual(["RUNPOD_AI_API_KEY", "RUNPOD_DEBUG_LEVEL", "RUNPOD_ENDPOINT_ID", "RUNPOD_POD_ID"]);
  const headers = { authorization: String(env["RUNPOD_AI_API_KEY"]) };
  expect((await rig.jobs(id).call("GET", "/job-take/me", undefined, { headers })).status).toBe(401);
});

test("a request requires the key and a load balancing endpoint, and fails if the endpoint is deleted", async () => {
  const { url, rig, id, request } = await useLoadBalancer({ workers: { min: 0, max: 0 } });
  for (const headers of [{}, { authorization: "Bearer wrong" }]) {
    const response = await fetch(`${url}/ping`, { headers });
    expect([response.status, await response.json()]).toEqual([
      401,
      { error: expect.stringContaining("the API key is missing or wrong") },
    ]);
  }
  const queue = await rig.jobsOn("acme/server", { workersMax: 0 });
  for (const other of [queue.id, "unknown"]) {
    const response = await request(`/../${other}/ping`);
    expect([response.status, await response.json()]).toEqual([
      404,
      { error: `load balancing endpoint "${other}" not found` },
    ]);
  }
  const waiting = request("/");
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect((await rig.jobs("serverless").call("DELETE", `/${id}`)).status).toBe(204);
  expect((await waiting).status).toBe(404);
});

test("a request waits until HEALTH_CHECK_PATH on PORT_HEALTH returns 200; 204 is initializing", async () => {
  const env = { PORT: "8000", PORT_HEALTH: "8001", HEALTH_CHECK_PATH: "/healthy?deep=1", WARM_UP: "10" };
  const { received, workers } = await useLoadBalancer({ env });
  const early = received("/ping");
  await expect.poll(workers).toMatchObject([{ status: "INITIALIZING" }]);
  expect(await early).toMatchObject({ version: "none", url: "/ping" });
  expect(await workers()).toMatchObject([{ status: "IDLE" }]);
});

test.each([
  [
    "an invalid environment",
    { PORT: "http" },
    'no worker can be started: env.PORT: "http" is not allowed; must be a port from 1 to 65535',
  ],
  [
    "an unhealthy worker",
    { BREAKS: "health" },
    'workers of the image "acme/server:1" are not healthy: local-ID has run for N s; GET /ping on port N returned 500; its program must return 200 to health checks',
  ],
])("a request without a worker in time receives 400 with the reason: %s", async (_what, env, reason) => {
  const fields = { env, workers: { min: 1, max: 1 } };
  const { request } = await useLoadBalancer(fields, { requestWait: 300, takeSilence: 100 });
  const rejection = async (): Promise<string> => {
    const response = await request("/");
    expect(response.status).toBe(400);
    return (await response.text()).replace(/local-\w+/, "local-ID").replace(/(?<=for |port )\d+/g, "N");
  };
  // The reason is known once a worker has failed.
  await expect.poll(rejection).toBe(JSON.stringify({ error: `no workers available within 0.3 s: ${reason}` }));
});

test.each([
  ["workersMax 0", { workers: { min: 0, max: 0 } }, {}, "workersMax is 0, so no worker starts"],
  ["no stock", {}, { stock: { cpu3c: "NONE" as const } }, "no stock of cpu3c, so no worker starts"],
])("a request to an endpoint with %s receives 400 with the reason", async (_what, fields, options, reason) => {
  const { request } = await useLoadBalancer(fields, { requestWait: 50 }, options);
  const response = await request("/");
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({ error: `no workers available within 0.05 s: ${reason}` });
});

test("requests receive 502 with the last lines of workers that end before they are healthy", async () => {
  const { request } = await useLoadBalancer({ env: { BREAKS: "start", VERSION: "7" } });
  const response = await request("/");
  expect([response.status, await response.json()]).toEqual([
    502,
    {
      error: expect.stringMatching(
        /ended with exit code 3, before it was healthy\nIts last lines:\nversion 7 cannot start/,
      ),
    },
  ]);
});

test("a worker that becomes unhealthy receives no more requests, and is replaced", async () => {
  const clock = new OffsetClock();
  const timings = { requestWait: 300, takeSilence: 600_000, secondLook: 50 };
  const balancer = await useLoadBalancer({ workers: { min: 1, max: 1 } }, timings, { clock });
  const { request, workers, received, rolledOut } = balancer;
  await rolledOut(1);
  const { pid } = await received("/?health=503");
  await expect.poll(workers).toMatchObject([{ status: "UNHEALTHY" }]);
  expect((await request("/")).status).toBe(400);
  await clock.advance(600_000);
  await expect.poll(workers).toMatchObject([{ status: "IDLE" }]);
  expect((await received("/")).pid).not.toBe(pid);
});

test("a worker that exceeds the time limit causes a 524; a worker that ends causes a 502", async () => {
  const clock = new OffsetClock();
  const { request, workers } = await useLoadBalancer({}, { requestProcessing: 60_000 }, { clock });
  const slow = request(`/?until=${scratchFile()}`);
  await expect.poll(workers).toMatchObject([{ status: "RUNNING" }]);
  await clock.advance(60_000);
  const timedOut = await slow;
  expect([timedOut.status, await timedOut.json()]).toEqual([
    524,
    { error: expect.stringMatching(/^worker local-\w+: did not finish in 60 s$/) },
  ]);
  const dead = await request("/?die");
  expect([dead.status, await dead.json()]).toEqual([
    502,
    { error: expect.stringMatching(/^worker local-\w+: the request failed: /) },
  ]);
});

test("a request of 30 MB passes, a larger request receives 413; a larger or truncated response ends the connection", async () => {
  const { received, request } = await useLoadBalancer();
  const limit = 30 * 1024 ** 2;
  const [whole, tooLarge] = [Buffer.alloc(limit), Buffer.alloc(limit + 1)];
  expect((await received("/", { method: "POST", body: whole })).body.bytes).toBe(limit);
  const chunked = { body: new Blob([tooLarge]).stream(), duplex: "half" } as const;
  for (const body of [{ body: tooLarge }, chunked]) {
    const response = await request("/", { method: "POST", ...body });
    expect([response.status, await response.json()]).toEqual([
      413,
      { error: "body: is too large; the limit is 30 MB (31457280 bytes)" },
    ]);
  }
  for (const path of ["/?cut", `/?bytes=${limit + 1}`]) {
    const response = await request(path);
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
  }
});

test("requests start one worker for each requestCount, and idle workers end", async () => {
  const clock = new OffsetClock();
  const scaling = { type: "REQUEST_COUNT", requestCount: 2 };
  const fields = { scaling, workers: { min: 0, max: 3, idleTimeout: 3600 } };
  const { request, workers } = await useLoadBalancer(fields, {}, { clock });
  const endFile = scratchFile();
  const open = [request(`/?until=${endFile}`)];
  await expect.poll(workers).toMatchObject([{ status: "RUNNING" }]);
  for (let more = 0; more < 4; more++) open.push(request(`/?until=${endFile}`));
  await expect.poll(async () => (await workers()).length).toBe(3);
  writeFileSync(endFile, "");
  expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  await expect.poll(workers).toEqual(Array(3).fill(expect.objectContaining({ status: "IDLE" })));
  await clock.advance(3_600_000);
  await expect.poll(workers).toEqual([]);
});

test("the client's disconnection ends the request to the worker, which becomes idle", async () => {
  const { request, workers } = await useLoadBalancer({ workers: { min: 1, max: 1 } });
  const client = new AbortController();
  const lost = request("/?ms=60000", { signal: client.signal });
  await expect.poll(workers).toMatchObject([{ status: "RUNNING" }]);
  client.abort();
  await expect(lost).rejects.toThrow();
  await expect.poll(workers).toMatchObject([{ status: "IDLE" }]);
});

test("the service waits for open requests when it stops, and rejects requests without a worker", async () => {
  const balancer = await useLoadBalancer({ workers: { min: 1, max: 1 } });
  const endFile = scratchFile();
  const open = balancer.request(`/?until=${endFile}`);
  await expect.poll(balancer.workers).toMatchObject([{ status: "RUNNING" }]);
  const stopped = balancer.rig.stop(60_000);
  expect((await balancer.request("/")).status).toBe(503);
  await new Promise((resolve) => setTimeout(resolve, 50));
  writeFileSync(endFile, "");
  expect((await open).status).toBe(200);
  await stopped;
});

test("injected faults reject requests and drop responses", async () => {
  const { request, rig, id, received } = await useLoadBalancer();
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const body = JSON.stringify({ tooManyRequests: 1, serverErrors: 1, dropResponses: 1 });
  await fetch(`${rig.root}/local/endpoints/${id}/faults`, { method: "PUT", headers, body });
  expect([(await request("/")).status, (await request("/")).status]).toEqual([429, 500]);
  await expect(request("/")).rejects.toThrow();
  await received("/");
});
