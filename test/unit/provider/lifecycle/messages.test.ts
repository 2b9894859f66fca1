import { inspect } from "node:util";
import { createClients } from "serverless-compute-api";
import { describe, expect, onTestFinished, test } from "vitest";
import { getTemplate } from "../../../../provider/functions/look-ups";
import type { Properties } from "../../../../provider/lifecycle/contract";
import { kinds } from "../../../../provider/resources";
import { json, startFaultyServer } from "../../../support/faulty-server";
import { useLifecycleBench } from "../../../support/lifecycle-bench";
import { deadOrigin } from "../../../support/loopback";
import { naming } from "../../../support/naming";

const bench = await useLifecycleBench();
const { NetworkVolume, Template } = kinds;
const volume: Properties = { name: "models-dev", size: 10, dataCenterId: "EU-RO-1" };

/** Clients that lead to `origin`, with a key that no message may show. */
function clientsOf(origin: string, apiKey = "sck-wrong-key") {
  const clients = createClients({
    apiKey,
    baseUrl: `${origin}/v1`,
    graphqlUrl: `${origin}/graphql`,
    serverlessUrl: origin,
    clock: bench.context().clock,
  });
  onTestFinished(() => clients.close());
  return clients;
}

async function failureOf(work: Promise<unknown>): Promise<Error> {
  const outcome: unknown = await work.catch((error: unknown) => error);
  if (outcome instanceof Error) return outcome;
  throw new Error(`it succeeded with ${inspect(outcome)}`);
}

/** Two lines at most: what a person reads under a resource. */
function expectShort({ message }: Error): void {
  expect(message.split("\n").length).toBeLessThanOrEqual(2);
  expect(message).not.toContain("sck-");
}

test("a wrong key is one clear line: who refused it, where it comes from, where to get one", async () => {
  const context = bench.context({ clients: clientsOf(bench.proxy.origin) });
  const template = Template.check({}, { imageName: "a" }, naming("models-dev")).inputs;
  for (const verb of [() => NetworkVolume.create(volume, context), () => Template.create(template, context)]) {
    const failure = await failureOf(verb());
    expect(failure.message).toMatch(
      /^(NetworkVolume|Template) "models-dev": http:\/\/127\.0\.0\.1:\d+ refused the API key.*serverless-compute:apiKey.*SERVERLESS_COMPUTE_API_KEY.*npx --no serverless-compute-local key"\.$/,
    );
    expectShort(failure);
  }
});

test("a wrong key at a refresh or a destroy: that the key of the last up is used, and the ways out", async () => {
  const context = bench.context({ clients: clientsOf(bench.proxy.origin) });
  const olds = { ...volume };
  for (const work of [NetworkVolume.read("a1", olds, context), NetworkVolume.delete("a1", olds, context)]) {
    const error = await failureOf(work);
    expectShort(error);
    expect(error.message).toMatch(
      /refused the API key.*\n"pulumi refresh" and "pulumi destroy" use the config of the last "pulumi up": if the key has changed since, run "pulumi up" first, or add --run-program\.$/,
    );
  }
});

test("a wrong key at a look-up, which a program makes, says nothing of that", async () => {
  const context = bench.context({ clients: clientsOf(bench.proxy.origin) });
  const error = await failureOf(getTemplate({ name: "nobody" }, context));
  expect(error.message).toMatch(/^Template "nobody": \S+ refused the API key(?!.*--run-program)/s);
});

test("a service that is down: its address and how to start the local one", async () => {
  const failure = await failureOf(
    NetworkVolume.create(volume, bench.context({ clients: clientsOf(await deadOrigin()) })),
  );
  expect(failure.message).toMatch(
    /^NetworkVolume "models-dev": cannot connect to http:\/\/127\.0\.0\.1:\d+: connection refused\. Start the local service \("npx --no serverless-compute-local start"\), or set serverless-compute:baseUrl, :graphqlUrl and :serverlessUrl/,
  );
  expectShort(failure);
});

describe("what a service may answer, told in a line or two that name the object", () => {
  test.each<[string, number, object, RegExp]>([
    [
      "a limit",
      400,
      { message: "quota of volumes exceeded: limit reached" },
      /the account's limit is reached: .*ask for a higher limit/,
    ],
    ["a refusal", 400, { message: "size: too small" }, /the service rejected the request: size: too small$/],
    ["too many requests", 429, { message: "slow down" }, /still rate limited by .* after retries. Try again later/],
    ["not available", 503, { message: "maintenance" }, /is still unavailable after retries: maintenance/],
    [
      "an internal error",
      500,
      { message: "oops" },
      /failed with HTTP 500: oops\. Try again; the service's logs have the cause\./,
    ],
    ["an answer of another kind", 200, { hello: 1 }, /sent an unexpected response/],
  ])("%s", async (_, status, body, text) => {
    const server = await startFaultyServer((request) => (request.method === "GET" ? json([]) : json(body, status)));
    onTestFinished(() => server.close());
    const failure = await failureOf(NetworkVolume.create(volume, bench.context({ clients: clientsOf(server.origin) })));
    const [line = ""] = failure.message.split("\n");
    expect(line).toMatch(/^NetworkVolume "models-dev": /);
    expect(line).toMatch(text);
    expectShort(failure);
  });
});

test("an object without a name is told by its id", async () => {
  const context = bench.context({ clients: clientsOf(bench.proxy.origin) });
  expect((await failureOf(NetworkVolume.read("agv6w2qcg7", {}, context))).message).toMatch(
    /^NetworkVolume "agv6w2qcg7": /,
  );
});
