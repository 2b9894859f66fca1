import { describe, expect, test } from "vitest";
import { type Rig, recordRetryDelays, startRig } from "../../support/client-rig";
import { type Behaviour, json } from "../../support/faulty-server";
import { endpointRecord, templateInput, templateRecord, volumeRecord } from "../../support/records";

const page = { action: "respond", status: 502, headers: { "content-type": "text/html" } } as const;
const half = { action: "truncate", status: 200, body: '{"id":"abc"}' } as const;
const credentials = { username: "robot", password: "hushed" };
const volume = { name: "v", size: 10, dataCenterId: "EU-RO-1" };

/** Failures after which the request may have been applied. */
test.each<[string, Behaviour, code: string]>([
  ["the connection ends before the body is read", { action: "hang up unread" }, "connection_lost"],
  ["the connection ends after the body was read", { action: "hang up" }, "connection_lost"],
  ["the connection is reset after the body was read", { action: "reset" }, "connection_lost"],
  ["the connection ends in the middle of the response", half, "connection_lost"],
  ["the connection ends in the middle of a chunked response", { ...half, chunked: true }, "connection_lost"],
  ["no response arrives in time", { action: "hang" }, "response_timeout"],
  ["the response is a 500", json({ message: "out of cheese" }, 500), "server_error"],
  [
    "the response is a 502 page of a proxy",
    { ...page, body: "<html><title>Bad Gateway</title></html>" },
    "server_error",
  ],
  ["the response is a 503", json({ message: "upstream" }, 503), "unavailable"],
  ["the response is a 504", json({ error: "upstream" }, 504), "server_error"],
])("if %s, a create is not retried and its error is ambiguous; a read is retried", async (_when, fault, code) => {
  // Short only where it is expected to expire, because responses are slow on a busy machine.
  const settings = { attemptTimeout: fault.action === "hang" ? 1000 : 10_000 };
  const create = await startRig([fault], settings);
  const read = await startRig([fault, json(endpointRecord())], settings);
  const [error, endpoint] = await Promise.all([
    create.failure(create.clients.management.createNetworkVolume(volume)),
    read.result(read.clients.management.readEndpoint("abc")),
  ]);
  expect(error).toMatchObject({ code, ambiguous: true, retryable: true });
  expect(error.request.method).toBe("POST");
  expect(create.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(["POST /v1/networkvolumes"]);
  expect(endpoint).toMatchObject({ name: "chat-dev" });
  expect(read.requests).toHaveLength(2);
});

describe("after a lost response", () => {
  const lost: Behaviour = { action: "hang up" };

  test.each<[string, (clients: Rig["clients"]) => Promise<unknown>]>([
    ["a new template", ({ management }) => management.createTemplate(templateInput)],
    ["a new secret", ({ management }) => management.createSecret({ name: "hub", value: "quiet" })],
    ["new registry credentials", ({ management }) => management.createRegistryAuth({ name: "ghcr", ...credentials })],
    ["/run", ({ jobs }) => jobs.run("ep", { input: {} })],
    ["/retry", ({ jobs }) => jobs.retry("ep", "job")],
  ])("%s is not retried", async (_what, send) => {
    const { clients, failure, requests } = await startRig([lost]);
    expect(await failure(send(clients))).toMatchObject({ code: "connection_lost", ambiguous: true });
    expect(requests).toHaveLength(1);
  });

  const template = json({ data: { podTemplate: templateRecord() } });

  test("the delete of a template by its name is not retried, because another template may have the name", async () => {
    const { clients, failure, requests } = await startRig([template, lost]);
    expect(await failure(clients.management.deleteTemplate("30zmvf89kd"))).toMatchObject({ ambiguous: true });
    expect(requests.map(({ body }) => JSON.parse(body).operationName)).toEqual(["podTemplate", "deleteTemplate"]);
  });

  type RetriedCall = [string, Behaviour[], (clients: Rig["clients"]) => Promise<unknown>];
  const secretCalls: [string, RetriedCall[2]][] = [
    ["a new value of a secret", ({ management }) => management.updateSecretValue({ id: "s1", value: "quiet" })],
    [
      "a new description of a secret",
      ({ management }) => management.updateSecretDescription({ id: "s1", description: "x" }),
    ],
    ["the delete of a secret", ({ management }) => management.deleteSecret("s1")],
    ["an update of credentials", ({ management }) => management.updateRegistryAuth({ id: "r1", ...credentials })],
    ["the delete of credentials", ({ management }) => management.deleteRegistryAuth("r1")],
  ];
  test.each<RetriedCall>([
    ["an update", [json(volumeRecord())], ({ management }) => management.updateNetworkVolume("abc", { size: 200 })],
    ["an update of an endpoint", [json(endpointRecord())], ({ management }) => management.updateEndpoint("abc", {})],
    ["a delete", [{ action: "respond", status: 204 }], ({ management }) => management.deleteEndpoint("abc")],
    [
      "an update of a template",
      [template, json({ data: { saveTemplate: templateRecord() } })],
      ({ management }) => management.updateTemplate("30zmvf89kd", { readme: "x" }),
    ],
    ...secretCalls.map(([what, send]): RetriedCall => [what, [json({ data: {} })], send]),
    ["/cancel", [json({ id: "job", status: "CANCELLED" })], ({ jobs }) => jobs.cancel("ep", "job")],
  ])("%s is retried until a response arrives", async (_what, responses, send) => {
    const last = responses.at(-1) ?? lost;
    const plan = [...responses.slice(0, -1), lost, lost, last];
    const { clients, result, requests } = await startRig(plan);
    await result(send(clients));
    expect(requests).toHaveLength(plan.length);
  });

  test("a read fails after six attempts with exponential backoff", async () => {
    const { clients, failure, requests } = await startRig([lost]);
    const { delays, onRetry } = recordRetryDelays();
    const error = await failure(clients.management.listEndpoints({ onRetry }));
    expect(error).toMatchObject({ code: "connection_lost", retryable: true });
    expect(requests).toHaveLength(6);
    expect(delays).toEqual([125, 250, 500, 1000, 2000]);
  });
});
