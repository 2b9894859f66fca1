import { createServer } from "node:http";
import { createClients } from "serverless-compute-api";
import { afterAll, expect, test } from "vitest";
import type { Context } from "../../../../provider/lifecycle/contract";
import { kinds } from "../../../../provider/resources";
import { checkedInputs } from "../../../../provider/resources/serverless-endpoint/inputs";
import { verifyEndpoint } from "../../../../provider/resources/serverless-endpoint/verification";
import { closeServer, listenOnLoopback } from "../../../support/loopback";
import { ManualClock } from "../../../support/manual-clock";
import { naming } from "../../../support/naming";

const clock = new ManualClock();
/** Times of worker polls. */
const polls: number[] = [];
const startTimes = new Map<string, number>();

/** A service whose endpoints immediately have a worker of the new version, which runs a job in two seconds. */
const server = createServer((request, response) => {
  const path = request.url ?? "";
  const endpoint = /\/(e\d+)\//.exec(path)?.[1] ?? "";
  const respond = (body: object): void =>
    void response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  if (path.endsWith("/workers")) {
    polls.push(clock.now());
    const worker = { id: `w-${endpoint}`, status: "RUNNING", isStale: false, gpuCount: 1 };
    return respond({ workers: [worker], summary: {}, endpointVersion: 2 });
  }
  if (path.endsWith("/run")) {
    startTimes.set(endpoint, clock.now());
    return respond({ id: `j-${endpoint}`, status: "IN_QUEUE" });
  }
  const isOver = clock.now() - (startTimes.get(endpoint) ?? 0) >= 2000;
  const done = { status: "COMPLETED", workerId: `w-${endpoint}`, output: { text: "pong" } };
  return respond({ id: `j-${endpoint}`, ...(isOver ? done : { status: "IN_PROGRESS" }) });
});
const origin = await listenOnLoopback(server);
const clients = createClients({
  apiKey: "k",
  dialect: "v2",
  baseUrl: `${origin}/v2`,
  graphqlUrl: `${origin}/graphql`,
  serverlessUrl: origin,
  clock,
  maxInFlight: 100,
});
afterAll(async () => {
  await clients.close();
  await closeServer(server);
});

const count = 100;

test(`${count} endpoints that verify concurrently all succeed, with at most 90 polls per minute`, async () => {
  const quiet = (): void => {};
  const context = (): Context => ({
    clients,
    clock,
    signal: new AbortController().signal,
    progress: quiet,
    warn: quiet,
    claimedIds: new Map(),
    settings: { templateReleaseLimit: 1 },
  });
  const verify = { input: { text: "pong" }, expect: { output: { text: "pong" } }, timeout: 10 };
  const inputs = { name: "chat", templateId: "t", workersMax: 1, verify };
  const { verify: verification } = checkedInputs.parse(kinds.ServerlessEndpoint.check({}, inputs, naming()).inputs);
  if (!verification) throw new Error("no verification");
  let remaining = count;
  const verdicts = Array.from({ length: count }, async (_, index) => {
    try {
      await verifyEndpoint(`e${index}`, { workersMax: 1, verify: verification }, undefined, context());
      return "verified";
    } catch (error) {
      return String(error);
    } finally {
      remaining--;
    }
  });
  while (remaining > 0) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    // The clock does not advance while requests are in flight.
    if (clock.waiting >= remaining) await clock.advance(50);
  }
  expect(new Set(await Promise.all(verdicts))).toEqual(new Set(["verified"]));
  for (const [index, at] of polls.entries()) {
    const earlier = polls[index - 90];
    if (earlier !== undefined) expect(at - earlier).toBeGreaterThanOrEqual(60_000);
  }
});
