import { fileURLToPath } from "node:url";
import { systemClock } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import type { Properties } from "../../../../provider/engine/values";
import { invokeJob } from "../../../../provider/functions/program-calls";
import { kinds } from "../../../../provider/resources";
import { acceleratedClock } from "../../../support/accelerated-clock";
import { runConcurrently } from "../../../support/concurrent-rows";
import { checkOf, expectNoneLeft, type FaultRow, faultTable } from "../../../support/fault-table";
import { partialFailureOf, useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";
import { at, expectResponse, send } from "../../../support/raw-http";

const server = fileURLToPath(new URL("../../../support/handlers/http-server.mjs", import.meta.url));
const bench = await useLifecycleBench({ images: { "acme/server": server }, clock: systemClock, rateLimits: "off" });
const { JobInvoke, ServerlessEndpoint, Template } = kinds;
const context = () => bench.context({ clock: acceleratedClock(10) }, "v2");
let names = 0;

/** Creates a template whose image has the version as its tag and in its environment, and returns its id. */
async function templateOf(version: string, env: Record<string, string> = {}): Promise<string> {
  const news = { imageName: `acme/server:${version}`, env: { VERSION: version, ...env } };
  const { inputs } = Template.check({}, news, naming(`server-${++names}`), [], "v2");
  return (await Template.create(inputs, context())).id;
}

/** Inputs of a load balancer. */
function inputsOf(name: string, templateId: string, more: Properties = {}): Properties {
  const scaling = { type: "LOAD_BALANCER", scalerType: "REQUEST_COUNT", scalerValue: 4, workersMax: 1 };
  const news = { templateId, ...scaling, ...more };
  const { inputs, failures } = ServerlessEndpoint.check({}, news, naming(name), [], "v2");
  expect(failures).toEqual([]);
  return inputs;
}

const invoked = (endpointId: string, request: Properties, timeout = 300): Properties =>
  JobInvoke.check({}, { endpointId, request, timeout }, naming()).inputs;

describe("the verification of a load balancer", () => {
  const verifyOf = (version: string, request: Properties = {}): Properties => ({
    verify: {
      request: { path: "/check", method: "POST", body: { text: "ping" }, expect: { body: { version } }, ...request },
      timeout: 300,
    },
  });

  test("sends its request to a worker of the new version, and rolls back a version with another status or body", async () => {
    const { id, outputs } = await ServerlessEndpoint.create(
      inputsOf("back", await templateOf("1"), verifyOf("1")),
      context(),
    );
    expect(outputs).not.toHaveProperty("unverified");
    const good = inputsOf("back", await templateOf("2"), verifyOf("2"));
    const updated = await ServerlessEndpoint.update(id, outputs, good, context());
    expect(updated).toMatchObject({ version: 2 });
    const broken = inputsOf("back", await templateOf("3", { BREAKS: "answers" }), verifyOf("3"));
    const failure = await partialFailureOf(ServerlessEndpoint.update(id, updated, broken, context()));
    expect(failure.message).toMatch(
      /^acme\/server:3 \(version 3\) failed its verification; acme\/server:2 \(version 2\) keeps serving \(as version 4\)/,
    );
    expect(failure.message).toMatch(
      /\nPOST \/check on endpoint "\w+" returned 500, expected 200\nresponse: \{"version":"3"/,
    );
    const other = inputsOf("back", await templateOf("4"), verifyOf("5"));
    expect((await partialFailureOf(ServerlessEndpoint.update(id, failure.outputs, other, context()))).message).toMatch(
      /\nPOST \/check on endpoint "\w+" returned 200, but its body differs\nbody.version: expected "5", got "4"\n/,
    );
  });

  test("reports its progress without the query of the request", async () => {
    const texts: string[] = [];
    const progress = (text: string) => void texts.push(text);
    const news = inputsOf("query", await templateOf("1"), verifyOf("1", { path: "/check?key=planted-81" }));
    await ServerlessEndpoint.create(news, { ...context(), progress });
    expect(texts.at(-1)).toBe("version 1: POST /check succeeded");
    expect(texts.join("\n")).not.toContain("planted-81");
  });

  test("redacts the mismatches of a secret request", async () => {
    const verify = verifyOf("4", { body: { token: "a-secret-of-the-test" } });
    const inputs = inputsOf("secret", await templateOf("1"), verify);
    const secrets = { paths: [["verify", "request", "body"]], values: ["a-secret-of-the-test"] };
    const failure = await partialFailureOf(ServerlessEndpoint.create(inputs, { ...context(), secrets }));
    expect(failure.message).toMatch(/body.version: expected "4", got \[secret\]/);
    expect(failure.message).not.toContain("a-secret-of-the-test");
  });
});

describe("a JobInvoke with a request", () => {
  test("starts a worker, and returns the body of the response", async () => {
    const { id: endpointId } = await ServerlessEndpoint.create(inputsOf("invoked", await templateOf("1")), context());
    const { id, outputs } = await JobInvoke.create(invoked(endpointId, { path: "/a?b=c" }), context());
    expect(outputs).toMatchObject({ jobId: id, status: "COMPLETED", output: { method: "GET", url: "/a?b=c" } });
    const expected = { path: "/?status=404", expect: { status: 404 } };
    expect(await JobInvoke.create(invoked(endpointId, expected), context())).toMatchObject({
      outputs: { output: { version: "1" } },
    });
    const settings = {
      clients: { ...bench.addresses, baseUrl: bench.addresses.baseUrl.replace("/v1", "/v2"), dialect: "v2" as const },
    };
    const body = { text: "ping" };
    const result = await invokeJob({ endpointId, request: { path: "/", method: "PUT", body } }, { settings });
    expect(at(result.output, "body", "text")).toBe(JSON.stringify(body));
  });

  test("fails if the endpoint has a queue or does not exist", async () => {
    const { type: _t, ...plain } = inputsOf("queue", await templateOf("1"));
    const { id } = await ServerlessEndpoint.create({ ...plain, scalerType: "QUEUE_DELAY" }, context());
    await expect(JobInvoke.create(invoked(id, { path: "/" }), context())).rejects.toThrow(
      `endpoint "${id}" accepts no HTTP requests; set input instead of request, or use REST v2 and an endpoint of type LOAD_BALANCER`,
    );
    await expect(JobInvoke.create(invoked("none", { path: "/" }), context())).rejects.toThrow(
      'endpoint "none" is unknown to the service',
    );
  });
});

/** Injects the faults of a row, and returns the result or error of a verb. */
async function underFaults(endpointId: string, row: FaultRow, verb: () => Promise<string>): Promise<string> {
  const { serverlessUrl, apiKey: key } = bench.addresses;
  const path = `${serverlessUrl}/local/endpoints/${endpointId}/faults`;
  expectResponse(await send("PUT", path, { key, json: row.faults }), 200);
  const text = await verb().catch(String);
  expectNoneLeft(row, (await send("GET", path, { key })).json);
  expectResponse(await send("PUT", path, { key, json: {} }), 200);
  return text;
}

const titled = (rows: FaultRow[]): [string, FaultRow][] =>
  rows.map((row) => [`under ${row.fault} ${row.behaviour}`, row]);

describe("the request of a JobInvoke under faults", () => {
  const checks = {
    succeeds: /^COMPLETED$/,
    "sends the request again, succeeds": /^COMPLETED$/,
    "fails with the response":
      /^UserError: GET \/a .* returned 500, expected 200\nresponse: .*injected fault: internal/,
    "fails, not sent again": /^UserError: GET \/a .* received no response: /,
    "fails with the crash": /^UserError: GET \/a .* returned 502, expected 200\nresponse: .*do not start/,
    "fails at `timeout`": /^UserError: GET \/a .* received no response: no response within [\d.]+ s/,
  };
  const rows = faultTable("`JobInvoke.request`");
  const outcomeOf = runConcurrently(rows, async (row) => {
    const inputs = inputsOf(`invoked-${++names}`, await templateOf("1"));
    const { id } = await ServerlessEndpoint.create(inputs, context());
    const news = invoked(id, { path: "/a" }, row.behaviour.includes("timeout") ? 1 : 300);
    return underFaults(id, row, async () => String((await JobInvoke.create(news, context())).outputs["status"]));
  });

  test.each(titled(rows))("%s", async (_title, row) => {
    expect(await outcomeOf(row)).toMatch(checkOf(checks, row.behaviour));
  });
});

describe("the request of a verification under faults", () => {
  const rolledBack = (reason: string) =>
    new RegExp(
      `^ResourceInitError: acme/server:2 \\(version 2\\) failed its .*; acme/server:1 \\(version 1\\) keeps .*\\n${reason}`,
    );
  const checks = {
    succeeds: /^version 2$/,
    "sends the request again, succeeds": /^version 2$/,
    "rolls back with the response, if no worker of the old version is up": rolledBack(
      "GET /check .* returned 500, expected 200\nresponse: .*injected fault",
    ),
    // A slow machine reaches the deadline before it sends the request.
    "rolls back at `verify.timeout`": rolledBack(
      "(GET /check .* received no response: no response within|no worker of the new version was ready for the request within)",
    ),
  };
  const rows = faultTable("`verify.request`");
  const outcomeOf = runConcurrently(rows, async (row) => {
    const name = `verified-${++names}`;
    const verify = { request: { path: "/check" }, timeout: 300 };
    const first = inputsOf(name, await templateOf("1"), { verify });
    const { id, outputs } = await ServerlessEndpoint.create(first, context());
    const timeout = row.behaviour.includes("timeout") ? 5 : 300;
    const news = inputsOf(name, await templateOf("2"), { verify: { ...verify, timeout } });
    const text = await underFaults(
      id,
      row,
      async () => `version ${(await ServerlessEndpoint.update(id, outputs, news, context()))["version"]}`,
    );
    const serving = await ServerlessEndpoint.read(id, outputs, context());
    expect(serving?.outputs["templateId"]).toBe((text === "version 2" ? news : first)["templateId"]);
    return text;
  });

  test.each(titled(rows))("%s", async (_title, row) => {
    expect(await outcomeOf(row)).toMatch(checkOf(checks, row.behaviour));
  });
});
