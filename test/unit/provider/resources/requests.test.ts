import { fileURLToPath } from "node:url";
import { systemClock } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import { invokeJob } from "../../../../provider/functions/program-calls";
import { PartialFailure, type Properties } from "../../../../provider/lifecycle/contract";
import { kinds } from "../../../../provider/resources";
import { useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";
import { at, stringAt } from "../../../support/raw-http";
import { rushedClock } from "../../../support/rushed-clock";

const server = fileURLToPath(new URL("../../../support/handlers/http-server.mjs", import.meta.url));
const bench = await useLifecycleBench({ images: { "acme/server": server }, clock: systemClock });
const { JobInvoke, ServerlessEndpoint } = kinds;

const context = () => bench.context({ clock: rushedClock }, "v2");
let names = 0;
/** Id of a new template whose server runs this version. */
async function templateOf(VERSION: string, env: Record<string, string> = {}): Promise<string> {
  const template = { name: `server-${++names}`, imageName: "acme/server:1", isServerless: true };
  return stringAt(await bench.rest("POST", "/templates", { ...template, env: { VERSION, ...env } }), "id");
}
const verifyOf = (version: string, request: Properties = {}): Properties => ({
  request: { path: "/check", method: "POST", body: { text: "ping" }, expect: { body: { version } }, ...request },
  timeout: 300,
});
function inputsOf(name: string, templateId: string, verify: Properties): Properties {
  const scaling = { type: "LOAD_BALANCER", scalerType: "REQUEST_COUNT", scalerValue: 4, workersMax: 2 };
  const given = { templateId, ...scaling, verify };
  const { inputs, failures } = ServerlessEndpoint.check({}, given, naming(name), [], "v2");
  expect(failures).toEqual([]);
  return inputs;
}
async function failureOf(verb: Promise<unknown>): Promise<PartialFailure> {
  const failure: unknown = await verb.catch((error: unknown) => error);
  if (failure instanceof PartialFailure) return failure;
  throw failure;
}
describe("the verification of a load balancer", { timeout: 60_000 }, () => {
  test("sends its request to a worker of the new version", async () => {
    const inputs = inputsOf("good", await templateOf("1"), verifyOf("1"));
    const { id, outputs } = await ServerlessEndpoint.create(inputs, context());
    expect(outputs).not.toHaveProperty("unverified");
    const news = inputsOf("good", await templateOf("2"), verifyOf("2"));
    const updated = await ServerlessEndpoint.update(id, outputs, news, context());
    expect(updated).toMatchObject({ version: 2 });
  });

  test("rolls back a version with another status or body", async () => {
    const { id, outputs } = await ServerlessEndpoint.create(
      inputsOf("back", await templateOf("1"), verifyOf("1")),
      context(),
    );
    const broken = inputsOf("back", await templateOf("2", { BREAKS: "answers" }), verifyOf("2"));
    const failure = await failureOf(ServerlessEndpoint.update(id, outputs, broken, context()));
    expect(failure.message).toMatch(
      /^acme\/server:1 \(version 2\) failed its verification; acme\/server:1 \(version 1\) keeps serving \(as version 3\)/,
    );
    expect(failure.message).toMatch(
      /\nPOST \/check on endpoint "\w+" returned 500, expected 200\nresponse: \{"version":"2"/,
    );
    const other = inputsOf("back", await templateOf("2"), verifyOf("3"));
    expect((await failureOf(ServerlessEndpoint.update(id, failure.outputs, other, context()))).message).toMatch(
      /\nPOST \/check on endpoint "\w+" returned 200, but its body differs\nbody.version: expected "3", got "2"\n/,
    );
  });

  test("is secret where its request is", async () => {
    const inputs = inputsOf(
      "secret",
      await templateOf("1"),
      verifyOf("4", { body: { token: "a-secret-of-the-test" } }),
    );
    const secrets = { paths: [["verify", "request", "body"]], values: ["a-secret-of-the-test"] };
    const failure = await failureOf(ServerlessEndpoint.create(inputs, { ...context(), secrets }));
    expect(failure.message).toMatch(/body.version: expected "4", got \[secret\]/);
    expect(failure.message).not.toContain("a-secret-of-the-test");
  });
});

describe("a JobInvoke with a request", { timeout: 60_000 }, () => {
  const endpoint = async (): Promise<string> => {
    const { verify: _none, ...inputs } = inputsOf("invoked", await templateOf("1"), verifyOf("1"));
    return (await ServerlessEndpoint.create(inputs, context())).id;
  };
  const invoked = (endpointId: string, request: Properties): Properties =>
    JobInvoke.check({}, { endpointId, request, timeout: 60 }, naming()).inputs;

  test("starts a worker, and returns the body of the response", async () => {
    const endpointId = await endpoint();
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

  test("fails if the endpoint has a queue, or none of this id exists", async () => {
    const templateId = await templateOf("1");
    const { type: _t, verify: _v, ...plain } = inputsOf("queue", templateId, verifyOf("1"));
    const { id } = await ServerlessEndpoint.create({ ...plain, scalerType: "QUEUE_DELAY" }, context());
    await expect(JobInvoke.create(invoked(id, { path: "/" }), context())).rejects.toThrow(
      `endpoint "${id}" accepts no HTTP requests; set input instead of request, or use REST v2 and an endpoint of type LOAD_BALANCER`,
    );
    await expect(JobInvoke.create(invoked("none", { path: "/" }), context())).rejects.toThrow(
      'endpoint "none" is unknown to the service',
    );
  });
});
