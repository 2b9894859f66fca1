import { type Clients, type Dialect, followWorkerLog } from "serverless-compute-api";
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

/**
 * Every call that takes an id, with the noun of the id and the method or GraphQL operation that the error contains, for an endpoint of
 * the job API that of its address; undefined if the dialect does not have the call.
 */
const calls: [name: string, noun: string, request: string | Record<Dialect, string>, call: Call][] = [
  ["readTemplate", "template", { v1: "podTemplate", v2: "GET" }, ({ management }, id) => management.readTemplate(id)],
  [
    "updateTemplate",
    "template",
    { v1: "podTemplate", v2: "PATCH" },
    ({ management }, id) => management.updateTemplate(id, { readme: "x" }),
  ],
  [
    "deleteTemplate",
    "template",
    { v1: "podTemplate", v2: "DELETE" },
    ({ management }, id) => management.deleteTemplate(id),
  ],
  ["readEndpoint", "endpoint", "GET", ({ management }, id) => management.readEndpoint(id)],
  ["updateEndpoint", "endpoint", "PATCH", ({ management }, id) => management.updateEndpoint(id, {})],
  ["updateCopy", "endpoint", "PATCH", ({ management }, id) => management.updateCopy?.({ id }, container)],
  [
    "readReleases",
    "endpoint",
    "GET",
    ({ management, dialect }, id) => (dialect === "v2" ? management.readReleases(id) : undefined),
  ],
  ["readWorkers", "endpoint", "GET", ({ management }, id) => management.readWorkers(id)],
  ["deleteEndpoint", "endpoint", "DELETE", ({ management }, id) => management.deleteEndpoint(id)],
  ["readNetworkVolume", "network volume", "GET", ({ management }, id) => management.readNetworkVolume(id)],
  ["updateNetworkVolume", "network volume", "PATCH", ({ management }, id) => management.updateNetworkVolume(id, {})],
  ["deleteNetworkVolume", "network volume", "DELETE", ({ management }, id) => management.deleteNetworkVolume(id)],
  ["readSecret", "secret", "GET", ({ management }, id) => management.readSecret?.(id)],
  ["readRegistryAuth", "registry auth", "GET", ({ management }, id) => management.readRegistryAuth?.(id)],
  [
    "updateSecretValue",
    "secret",
    { v1: "secretValueUpdate", v2: "PATCH" },
    ({ management }, id) => management.updateSecretValue({ id, value: "quiet" }),
  ],
  [
    "updateSecretDescription",
    "secret",
    { v1: "secretDescriptionUpdate", v2: "PATCH" },
    ({ management }, id) => management.updateSecretDescription({ id, description: "" }),
  ],
  ["deleteSecret", "secret", { v1: "secretDelete", v2: "DELETE" }, ({ management }, id) => management.deleteSecret(id)],
  [
    "updateRegistryAuth",
    "registry auth",
    { v1: "updateRegistryAuth", v2: "PATCH" },
    ({ management }, id) => management.updateRegistryAuth({ id, ...credentials }),
  ],
  [
    "deleteRegistryAuth",
    "registry auth",
    { v1: "deleteRegistryAuth", v2: "DELETE" },
    ({ management }, id) => management.deleteRegistryAuth(id),
  ],
  ["url", "endpoint", "GET", async ({ jobs }, id) => jobs.url(id)],
  ["run", "endpoint", "GET", ({ jobs }, id) => jobs.run(id, { input: {} })],
  ["runsync", "endpoint", "GET", ({ jobs }, id) => jobs.runsync(id, { input: {} })],
  ["purgeQueue", "endpoint", "GET", ({ jobs }, id) => jobs.purgeQueue(id)],
  ["health", "endpoint", "GET", ({ jobs }, id) => jobs.health(id)],
  ["status of an endpoint", "endpoint", "GET", ({ jobs }, id) => jobs.status(id, "j1")],
  ["status", "job", "GET", ({ jobs }, id) => jobs.status("e1", id)],
  ["waitForJob", "job", "GET", ({ jobs }, id) => jobs.waitForJob("e1", id)],
  ["streamJob", "job", "GET", ({ jobs }, id) => firstOutput(jobs.streamJob("e1", id))],
  ["cancel", "job", "POST", ({ jobs }, id) => jobs.cancel("e1", id)],
  ["retry", "job", "POST", ({ jobs }, id) => jobs.retry("e1", id)],
  [
    "followWorkerLog of an endpoint",
    "endpoint",
    "GET",
    (clients, id) => followWorkerLog(clients, [id, "w1"], logOptions),
  ],
  ["followWorkerLog", "worker", "GET", (clients, id) => followWorkerLog(clients, ["e1", id], logOptions)],
];
const logOptions = { signal: new AbortController().signal, onOpen: () => {}, onLine: () => {} };

describe.each(["v1", "v2"] as const)("with REST %s", (dialect) => {
  test("the table contains every method of an object", async () => {
    const { clients } = await startRig([json({})], { dialect });
    const methods = Object.keys(clients.management).filter((name) => /^(read|update|delete)(?!WorkerQuota)/.test(name));
    expect(calls.map(([name]) => name)).toEqual(expect.arrayContaining(methods));
  });

  test.each(calls)(
    "%s rejects an id that no object can have, before any request",
    async (_name, noun, request, call) => {
      const { clients, requests } = await startRig([json({})], { dialect });
      for (const id of impossibleIds) {
        const result = call(clients, id);
        if (result === undefined) return;
        const error = await apiErrorOf(result);
        expect(error).toMatchObject({ category: "invalid", code: "invalid_argument", ambiguous: false });
        const { operation, method } = error.request;
        expect(operation ?? method).toBe(typeof request === "string" ? request : request[dialect]);
        expect(error.message).toBe(`the ${noun} id is ${JSON.stringify(id)}; must be the id of an object`);
      }
      expect(requests).toEqual([]);
    },
  );
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
