import { describe, expect, test } from "vitest";
import { jobOperations } from "../support/job-api";
import { at, expectResponse, send, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";

const target = await useTarget();
const account = useAccount(target);
const parked = await account.parked();
const day = 86_400_000;

/** A submission with a policy. */
const policy = (fields: unknown) => ({ input: {}, policy: fields });

/** Invalid bodies, with the word that the error must contain. */
const invalidBodies: [string, string, unknown][] = [
  ["no input", "input", {}],
  ["null as input", "input", { input: null }],
  ["a string as input", "input", { input: "ping" }],
  ["a list as input", "input", { input: ["ping"] }],
  ["a webhook that is not a URL", "webhook", { input: {}, webhook: "not a url" }],
  ["a webhook with another protocol", "webhook", { input: {}, webhook: "ftp://127.0.0.1/x" }],
  ["a policy that is not an object", "policy", policy("fast")],
  ["policy.executionTimeout below 5 s", "executionTimeout", policy({ executionTimeout: 4999 })],
  ["policy.executionTimeout above 7 days", "executionTimeout", policy({ executionTimeout: 7 * day + 1 })],
  ["policy.executionTimeout that is not an integer", "executionTimeout", policy({ executionTimeout: 6000.5 })],
  ["a string as policy.executionTimeout", "executionTimeout", policy({ executionTimeout: "6000" })],
  ["policy.ttl below 10 s", "ttl", policy({ ttl: 9999 })],
  ["policy.ttl above 7 days", "ttl", policy({ ttl: 7 * day + 1 })],
  ["a string as policy.ttl", "ttl", policy({ ttl: "10000" })],
  ["policy.lowPriority that is not a boolean", "lowPriority", policy({ lowPriority: "yes" })],
  ["an s3Config that is not an object", "s3Config", { input: {}, s3Config: "bucket" }],
  ["s3Config.bucketName that is not a string", "bucketName", { input: {}, s3Config: { bucketName: 7 } }],
];

describe.each(["/run", "/runsync"])("Job submission body: POST %s", (path) => {
  test.each(invalidBodies)(`POST ${path} with %s returns 400 and names %s`, async (_what, named, body) => {
    const response = await parked.call("POST", path, body);
    expectResponse(response, 400);
    expect(stringAt(response, "error")).toMatch(new RegExp(`\\b${named}\\b`));
    expect(await parked.health()).toMatchObject({ jobs: { inQueue: 0 } });
  });

  test(`POST ${path} with an unknown key in policy returns 400 and names it`, {
    tags: ["reading:unknown-policy-key"],
  }, async () => {
    const response = await parked.call("POST", path, { input: {}, policy: { executionTimout: 60_000 } });
    expectResponse(response, 400);
    expect(response.text).toContain("executionTimout");
  });

  test(`POST ${path} with an out-of-range value names the value and the bounds`, async () => {
    const response = await parked.call("POST", path, { input: {}, policy: { ttl: 9999 } });
    for (const reported of ["9999", "10000", "604800000"]) expect(response.text).toContain(reported);
  });

  test.each([
    ["text that is not JSON", "{input:"],
    ["an empty body", ""],
    ["a list", "[]"],
  ])(`POST ${path} with %s returns 400`, async (_what, text) => {
    const response = await send("POST", `${parked.root}${path}`, {
      key: target.apiKey,
      text,
      headers: { "content-type": "application/json" },
    });
    expectResponse(response, 400);
    expect(stringAt(response, "error")).not.toBe("");
    expect(await parked.health()).toMatchObject({ jobs: { inQueue: 0 } });
  });
});

describe("Job submission body: accepted values", () => {
  test.each([
    ["executionTimeout", 5000],
    ["executionTimeout", 7 * day],
    ["ttl", 10_000],
    ["ttl", 7 * day],
    ["lowPriority", true],
    ["lowPriority", false],
  ])("POST /run with policy.%s = %j is accepted", async (field, value) => {
    const jobs = await account.parked();
    await jobs.submit({}, { policy: { [field]: value } });
  });

  test("POST /run with an empty input is accepted and reaches the handler", async (context) => {
    const jobs = await account.jobsOf("echo", context);
    const record = await jobs.reaches(await jobs.submit({}), "COMPLETED");
    expect(record["output"]).toEqual({});
  });

  test("POST /run with unknown keys beside policy is accepted", { tags: ["reading:unknown-policy-key"] }, async () => {
    const jobs = await account.parked();
    await jobs.submit({}, { priority: 7 });
  });

  test("POST /run with s3Config is accepted, and no response contains its accessSecret", async () => {
    const jobs = await account.parked();
    const s3Config = { accessId: "id", accessSecret: "very-quiet", bucketName: "b", endpointUrl: "http://127.0.0.1:9" };
    const submitted = await jobs.run({}, { s3Config });
    const id = stringAt(submitted, "id");
    const reported = [submitted, await jobs.status(id), await jobs.call("GET", "/requests"), await jobs.cancel(id)];
    reported.push(
      await jobs.retry(id),
      await jobs.call("GET", `/stream/${id}`),
      await jobs.runsync({}, 1000, { s3Config }),
    );
    // Invalid only at its end.
    reported.push(await jobs.run({}, { s3Config, policy: { ttl: 1 } }), await jobs.call("POST", "/purge-queue"));
    for (const response of reported) expectResponse(response, [200, 400]);
    expect(reported.map(({ text }) => text).join()).not.toContain("very-quiet");
  });
});

describe("Errors: 404", () => {
  test.each(jobOperations)("%s %s of an unknown endpoint id returns 404", async (method, path) => {
    const response = await send(method, `${target.serverlessUrl}/v2/nosuchendpoint${path}`, {
      key: target.apiKey,
      ...(method === "POST" ? { json: { input: {} } } : {}),
    });
    expectResponse(response, 404);
    const error = path.startsWith("/openai/") ? at(response.json, "error", "message") : at(response.json, "error");
    expect(error, response.text).toBeTypeOf("string");
  });

  test.each(jobOperations.filter(([, path]) => path.includes("some-id")))(
    "%s %s of an unknown job returns 404",
    async (method, path) => {
      const response = await parked.call(method, path);
      expectResponse(response, 404);
      expect(at(response.json, "error"), response.text).toBeTypeOf("string");
    },
  );

  test("a job is unknown to all other endpoints", async () => {
    const other = await account.parked();
    const id = await other.submit({});
    for (const response of [await parked.status(id), await parked.cancel(id), await parked.retry(id)])
      expectResponse(response, 404);
    expectResponse(await other.status(id), 200, { status: "IN_QUEUE" });
  });

  test.each([
    ["GET", "/nosuchoperation"],
    ["GET", "/run"],
    ["POST", "/health"],
    ["DELETE", "/status/some-id"],
  ])("%s %s is not an operation and returns 404 or 405 in JSON", async (method, path) => {
    const response = await parked.call(method, path);
    expectResponse(response, [404, 405]);
    expect(stringAt(response, "error")).not.toBe("");
  });
});
