import fastify from "fastify";
import { expect, test } from "vitest";
import { createAuth } from "../../../../service/api/auth";
import { registerMetricsRoute } from "../../../../service/api/metrics";
import { ServiceError } from "../../../../service/errors";

const key = "a-key-of-this-service";
const app = fastify();
registerMetricsRoute(app, createAuth(key), async () => ({ contentType: "text/plain", text: "up 1\n" }));
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
  if (status === 200) expect(response.body).toBe("up 1\n");
});
