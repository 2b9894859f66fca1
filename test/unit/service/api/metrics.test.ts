import fastify from "fastify";
import { expect, test } from "vitest";
import { createAuth } from "../../../../service/api/auth";
import { registerMetricsRoute } from "../../../../service/api/metrics";
import { ServiceError } from "../../../../service/errors";

const key = "a-key-of-this-service";
const app = fastify();
const jobs = { completed: 0, failed: 0, inProgress: 2, inQueue: 1, retried: 0 };
const workers = { idle: 1, running: 2, initializing: 0, ready: 1, throttled: 0, unhealthy: 0 };
registerMetricsRoute(app, createAuth(key), {
  endpoints: () => [{ id: "e", name: 'a "b" \\ \n c' }],
  health: () => ({ jobs, workers }),
  counts: () => ({ COMPLETED: 4, FAILED: 3, CANCELLED: 2, TIMED_OUT: 1, retried: 9 }),
  metrics: () => undefined,
});
app.setErrorHandler((error, _request, reply) =>
  reply.status(error instanceof ServiceError ? error.status : 500).send(),
);

test.each([
  ["127.0.0.1", undefined, 200],
  ["127.3.2.1", undefined, 200],
  ["::1", undefined, 200],
  ["::ffff:127.0.0.1", undefined, 200],
  ["172.17.0.1", undefined, 401],
  ["::ffff:172.17.0.1", undefined, 401],
  ["fe80::1", "wrong", 401],
  ["172.17.0.1", key, 200],
])("/metrics for %s with the key %j is %i", async (remoteAddress, requestKey, status) => {
  const headers = requestKey === undefined ? {} : { authorization: `Bearer ${requestKey}` };
  const response = await app.inject({ url: "/metrics", remoteAddress, headers });
  expect(response.statusCode).toBe(status);
  expect(response.body.includes("endpoint_info")).toBe(status === 200);
});

test("/metrics has each count once, and escapes names", async () => {
  const { body, headers } = await app.inject({ url: "/metrics" });
  expect(headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(body.endsWith("\n")).toBe(true);
  const lines = body.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  expect(lines.map((line) => line.replace("serverless_compute_", ""))).toEqual([
    'jobs_ended_total{endpoint="e",state="COMPLETED"} 4',
    'jobs_ended_total{endpoint="e",state="FAILED"} 3',
    'jobs_ended_total{endpoint="e",state="CANCELLED"} 2',
    'jobs_ended_total{endpoint="e",state="TIMED_OUT"} 1',
    'worker_start_failures_total{endpoint="e"} 0',
    'endpoint_info{endpoint="e",name="a \\"b\\" \\\\ \\n c"} 1',
    'jobs{endpoint="e",state="IN_QUEUE"} 1',
    'jobs{endpoint="e",state="IN_PROGRESS"} 2',
    ...Object.entries(workers)
      .filter(([state]) => state !== "ready")
      .map(([state, count]) => `workers{endpoint="e",state="${state}"} ${count}`),
  ]);
});
