import { type Clients, followWorkerLog } from "serverless-compute-api";
import { objectId, optionalObjectId } from "serverless-compute-api/shapes";
import { describe, expect, test } from "vitest";
import { apiErrorOf, startRig } from "../../support/client-rig";
import { json } from "../../support/faulty-server";

const impossibleIds = ["", " ", "\t\n", ".", "..", "...", ". .", "\ud800", "e1\udfff"];
const possibleIds = ["e1", "a/b", "../x", "...x", "a?b=c", "%2e%2e", "ü#", "e 1", "🙂"];

const credentials = { username: "robot", password: "hushed" };
const container = {
  templateId: "t1",
  imageName: "acme/chat:1",
  dockerArgs: "",
  env: {},
  ports: "",
  containerDiskInGb: 5,
  containerRegistryAuthId: null,
};
type Call = (clients: Clients, id: string) => Promise<unknown> | undefined;
const firstOutput = async (outputs: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of outputs) return;
};

/** Every call that takes an id, by its name and the noun of the id; undefined if the dialect does not have it. */
const calls: [name: string, noun: string, call: Call][] = [
  ["readTemplate", "template", ({ management }, id) => management.readTemplate(id)],
  ["updateTemplate", "template", ({ management }, id) => management.updateTemplate(id, { readme: "x" })],
  ["deleteTemplate", "template", ({ management }, id) => management.deleteTemplate(id)],
  ["readEndpoint", "endpoint", ({ management }, id) => management.readEndpoint(id)],
  ["updateEndpoint", "endpoint", ({ management }, id) => management.updateEndpoint(id, {})],
  ["updateCopy", "endpoint", ({ management }, id) => management.updateCopy?.({ id }, container)],
  [
    "readReleases",
    "endpoint",
    ({ management, dialect }, id) => (dialect === "v2" ? management.readReleases(id) : undefined),
  ],
  ["readWorkers", "endpoint", ({ management }, id) => management.readWorkers(id)],
  ["deleteEndpoint", "endpoint", ({ management }, id) => management.deleteEndpoint(id)],
  ["readNetworkVolume", "network volume", ({ management }, id) => management.readNetworkVolume(id)],
  ["updateNetworkVolume", "network volume", ({ management }, id) => management.updateNetworkVolume(id, {})],
  ["deleteNetworkVolume", "network volume", ({ management }, id) => management.deleteNetworkVolume(id)],
  ["readSecret", "secret", ({ management }, id) => management.readSecret?.(id)],
  ["updateSecretValue", "secret", ({ management }, id) => management.updateSecretValue({ id, value: "quiet" })],
  [
    "updateSecretDescription",
    "secret",
    ({ management }, id) => management.updateSecretDescription({ id, description: "" }),
  ],
  ["deleteSecret", "secret", ({ management }, id) => management.deleteSecret(id)],
  [
    "updateRegistryAuth",
    "registry auth",
    ({ management }, id) => management.updateRegistryAuth({ id, ...credentials }),
  ],
  ["deleteRegistryAuth", "registry auth", ({ management }, id) => management.deleteRegistryAuth(id)],
  ["url", "endpoint", async ({ jobs }, id) => jobs.url(id)],
  ["run", "endpoint", ({ jobs }, id) => jobs.run(id, { input: {} })],
  ["runsync", "endpoint", ({ jobs }, id) => jobs.runsync(id, { input: {} })],
  ["purgeQueue", "endpoint", ({ jobs }, id) => jobs.purgeQueue(id)],
  ["health", "endpoint", ({ jobs }, id) => jobs.health(id)],
  ["status of an endpoint", "endpoint", ({ jobs }, id) => jobs.status(id, "j1")],
  ["status", "job", ({ jobs }, id) => jobs.status("e1", id)],
  ["waitForJob", "job", ({ jobs }, id) => jobs.waitForJob("e1", id)],
  ["streamJob", "job", ({ jobs }, id) => firstOutput(jobs.streamJob("e1", id))],
  ["cancel", "job", ({ jobs }, id) => jobs.cancel("e1", id)],
  ["retry", "job", ({ jobs }, id) => jobs.retry("e1", id)],
  ["followWorkerLog of an endpoint", "endpoint", (clients, id) => followWorkerLog(clients, [id, "w1"], logOptions)],
  ["followWorkerLog", "worker", (clients, id) => followWorkerLog(clients, ["e1", id], logOptions)],
];
const logOptions = { signal: new AbortController().signal, onOpen: () => {}, onLine: () => {} };

describe.each(["v1", "v2"] as const)("with REST %s", (dialect) => {
  test("the table contains every method of an object", async () => {
    const { clients } = await startRig([json({})], { dialect });
    const methods = Object.keys(clients.management).filter((name) => /^(read|update|delete)(?!WorkerQuota)/.test(name));
    expect(calls.map(([name]) => name)).toEqual(expect.arrayContaining(methods));
  });

  test.each(calls)("%s rejects an id that no object can have, before any request", async (_name, noun, call) => {
    const { clients, requests } = await startRig([json({})], { dialect });
    for (const id of impossibleIds) {
      const result = call(clients, id);
      if (result === undefined) return;
      const error = await apiErrorOf(result);
      expect(error).toMatchObject({ category: "invalid", code: "invalid_argument", ambiguous: false });
      expect(error.message).toBe(`the ${noun} id is ${JSON.stringify(id)}; must be the id of an object`);
    }
    expect(requests).toEqual([]);
  });
});

test.each(possibleIds)("the id %j stays one segment of a path", async (id) => {
  const { clients, requests } = await startRig([json({}, 404)]);
  await clients.management.readEndpoint(id);
  expect(requests[0]?.url).toBe(`/v1/endpoints/${encodeURIComponent(id)}`);
});

test("a reference allows the ids that the clients allow, and an optional one also none", () => {
  const isAllowed = (shape: typeof objectId) => (id: string) => shape.safeParse(id).success;
  expect([...impossibleIds, ...possibleIds].filter(isAllowed(objectId))).toEqual(possibleIds);
  expect([...impossibleIds, ...possibleIds].filter(isAllowed(optionalObjectId))).toEqual(["", ...possibleIds]);
});
