import type { Clients } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import { apiErrorOf, startRig } from "../../support/client-rig";
import { json } from "../../support/faulty-server";

/** Calls a function with any arguments, as a script in JavaScript does. */
const call = async (operation: (...args: never[]) => unknown, ...args: unknown[]): Promise<unknown> =>
  Reflect.apply(operation, undefined, args);

const circular: { self?: unknown } = {};
circular.self = circular;
const notJson: [string, unknown][] = [
  ["a BigInt", { input: 1n }],
  ["a circular object", circular],
  ["a function", () => 1],
];

type Operation = (clients: Clients, id: unknown) => Promise<unknown>;
const firstOutput: Operation = async ({ jobs }, id) => {
  for await (const output of Reflect.apply(jobs.streamJob, undefined, ["ep", id])) return output;
  return undefined;
};
const operations: [string, Operation][] = [
  ["run", ({ jobs }, id) => call(jobs.run, id, { input: {} })],
  ["status", ({ jobs }, id) => call(jobs.status, "ep", id)],
  ["cancel", ({ jobs }, id) => call(jobs.cancel, "ep", id)],
  ["retry", ({ jobs }, id) => call(jobs.retry, "ep", id)],
  ["waitForJob", ({ jobs }, id) => call(jobs.waitForJob, "ep", id)],
  ["streamJob", firstOutput],
  ["readEndpoint", ({ management }, id) => call(management.readEndpoint, id)],
  ["readTemplate", ({ management }, id) => call(management.readTemplate, id)],
  ["deleteSecret", ({ management }, id) => call(management.deleteSecret, id)],
];

describe.each(["v1", "v2"] as const)("with REST %s, an id that is no text", (dialect) => {
  test.each(operations)("is rejected by %s before any request", async (_name, operation) => {
    const { clients, requests } = await startRig([json({ id: "j", status: "COMPLETED", stream: [] })], { dialect });
    for (const id of [undefined, null, 7, {}]) {
      const error = await apiErrorOf(operation(clients, id));
      expect(error).toMatchObject({ code: "invalid_argument", message: expect.stringMatching(/ id is .*; must/) });
    }
    expect(requests).toHaveLength(0);
  });
});

describe.each(notJson)("%s", (_name, value) => {
  test("is rejected as a body before any request", async () => {
    const { clients, origin, requests } = await startRig([json({})]);
    const request = { method: "POST", path: "/x", body: value } as const;
    for (const promise of [
      call(clients.jobs.run, "ep", value),
      clients.requests.send(origin, request),
      clients.transport.send({ ...request, url: origin, idempotent: true }),
    ])
      expect(await apiErrorOf(promise)).toMatchObject({ code: "invalid_argument", retryable: false });
    expect(requests).toHaveLength(0);
  });
});

test("an absent submission is rejected before any request", async () => {
  const { clients, requests } = await startRig([json({})]);
  expect(await apiErrorOf(call(clients.jobs.run, "ep"))).toMatchObject({ code: "invalid_argument" });
  expect(requests).toHaveLength(0);
});

test("a timeout as text is rejected, because its sum with a time would be text", async () => {
  const { clients, requests } = await startRig([json({})]);
  const error = await apiErrorOf(call(clients.jobs.health, "ep", { timeout: "5000" }));
  expect(error).toMatchObject({ code: "invalid_argument", message: "timeout is 5000; must be a number of at least 1" });
  expect(requests).toHaveLength(0);
});
