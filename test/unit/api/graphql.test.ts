import type { CallOptions } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { apiErrorOf, startRig } from "../../support/client-rig";
import { json } from "../../support/faulty-server";
import { templateInput, templateRecord } from "../../support/records";

const operationShape = z.object({ query: z.string(), operationName: z.string(), variables: z.unknown().optional() });
const data = (value: unknown) => json({ data: value });
const rejection = (message: string) => json({ errors: [{ message }], data: null });

const credentials = { username: "robot", password: "hushed" };

/** Successful response of each operation. */
const responses: Record<string, unknown> = {
  saveTemplate: { saveTemplate: templateRecord() },
  podTemplate: { podTemplate: templateRecord() },
  podTemplates: { myself: { podTemplates: [templateRecord()] } },
  deleteTemplate: { deleteTemplate: null },
  secretCreate: { secretCreate: { id: "s1", name: "hub", description: null } },
  secrets: { myself: { secrets: [{ id: "s1", name: "hub", description: "for the hub" }] } },
  secretValueUpdate: { secretValueUpdate: { id: "s1" } },
  secretDescriptionUpdate: { secretDescriptionUpdate: { id: "s1" } },
  secretDelete: { secretDelete: null },
  saveRegistryAuth: { saveRegistryAuth: { id: "r1", name: "ghcr" } },
  registryCreds: { myself: { containerRegistryCreds: [{ id: "r1", name: "ghcr" }] } },
  updateRegistryAuth: { updateRegistryAuth: { id: "r1" } },
  deleteRegistryAuth: { deleteRegistryAuth: null },
};

test("each operation sends its values as variables, never in the text", async () => {
  const { clients, requests } = await startRig(({ body }) => {
    return data(responses[operationShape.parse(JSON.parse(body)).operationName]);
  });
  const { management } = clients;
  await management.createTemplate({ ...templateInput, name: 'a"}){x' });
  await management.readTemplate("t1");
  await management.listTemplates();
  await management.deleteTemplate("t1");
  await management.createSecret({ name: "hub", value: "quiet" });
  await management.listSecrets();
  await management.updateSecretValue({ id: "s1", value: "quieter" });
  await management.updateSecretDescription({ id: "s1", description: "for the hub" });
  await management.deleteSecret("s1");
  expect(await management.createRegistryAuth({ name: "ghcr", ...credentials })).toEqual({ id: "r1", name: "ghcr" });
  expect(await management.listRegistryAuths()).toEqual([{ id: "r1", name: "ghcr" }]);
  await management.updateRegistryAuth({ id: "r1", ...credentials });
  await management.deleteRegistryAuth("r1");
  const sent = requests.map(({ body }) => operationShape.parse(JSON.parse(body)));
  expect(sent.map(({ operationName, variables }) => [operationName, variables])).toEqual([
    ["saveTemplate", { input: { ...templateInput, name: 'a"}){x', env: [{ key: "MODEL", value: "mistral-7b" }] } }],
    ["podTemplate", { id: "t1" }],
    ["podTemplates", undefined],
    ["podTemplate", { id: "t1" }],
    ["deleteTemplate", { name: "chat-dev" }],
    ["secretCreate", { name: "hub", value: "quiet" }],
    ["secrets", undefined],
    ["secretValueUpdate", { id: "s1", value: "quieter" }],
    ["secretDescriptionUpdate", { id: "s1", description: "for the hub" }],
    ["secretDelete", { id: "s1" }],
    ["saveRegistryAuth", { name: "ghcr", ...credentials }],
    ["registryCreds", undefined],
    ["updateRegistryAuth", { id: "r1", ...credentials }],
    ["deleteRegistryAuth", { id: "r1" }],
  ]);
  for (const { query } of sent) expect(query).not.toMatch(/quiet|hushed|chat-dev|"/);
  for (const { method, url, headers } of requests) {
    expect([method, url, headers["content-type"]]).toEqual(["POST", "/graphql", "application/json"]);
  }
});

test("a create of a template sends registry credentials only if it has any", async () => {
  const { clients, requests } = await startRig([data(responses["saveTemplate"])]);
  await clients.management.createTemplate({ ...templateInput, containerRegistryAuthId: "r1" });
  await clients.management.createTemplate({ ...templateInput, containerRegistryAuthId: null });
  const sent = requests.map(({ body }) => JSON.parse(body).variables.input.containerRegistryAuthId);
  expect(sent).toEqual(["r1", undefined]);
});

test("an update of a missing template fails as missing when it reads the template", async () => {
  const { clients, requests } = await startRig([data({ podTemplate: null })]);
  const error = await apiErrorOf(clients.management.updateTemplate("t1", { readme: "x" }));
  expect(error).toMatchObject({ category: "missing", message: 'template "t1" not found' });
  expect(error.request.operation).toBe("podTemplate");
  expect(requests).toHaveLength(1);
});

test("null texts of a template are read as empty texts, and its environment as an object", async () => {
  const { clients } = await startRig([data(responses["podTemplate"])]);
  expect(await clients.management.readTemplate("t1")).toMatchObject({
    env: { MODEL: "mistral-7b" },
    ports: "",
    readme: "",
  });
});

test("an invalid element of a list does not affect the others if the caller handles it", async () => {
  const { clients } = await startRig([
    data({
      myself: {
        secrets: [
          { id: "s0", name: 1 },
          { id: "s1", name: "hub" },
        ],
      },
    }),
  ]);
  expect((await apiErrorOf(clients.management.listSecrets())).message).toContain('"myself.secrets[0].name"');
  const ids: unknown[] = [];
  const found = await clients.management.listSecrets({ onUnreadable: ({ id }) => void ids.push(id) });
  expect([found.map(({ id }) => id), ids]).toEqual([["s1"], ["s0"]]);
});

test("a secret without a description has an empty one", async () => {
  const { clients } = await startRig([data(responses["secretCreate"])]);
  expect(await clients.management.createSecret({ name: "hub", value: "v" })).toEqual({
    id: "s1",
    name: "hub",
    description: "",
  });
});

test.each([
  ["null", data({ podTemplate: null })],
  ['a "not found" error', rejection('template "t1" not found')],
])("a missing template, reported by %s, reads as undefined", async (_how, response) => {
  const { clients } = await startRig([response]);
  expect(await clients.management.readTemplate("t1")).toBeUndefined();
});

describe("an error in the response", () => {
  test("is an error of the operation, with its category", async () => {
    const message = 'template "chat" is in use by endpoint "chat" (jpnw0v75y3qoql)';
    const { clients, requests } = await startRig([rejection(message)]);
    const error = await apiErrorOf(clients.management.createTemplate(templateInput));
    expect(error).toMatchObject({ category: "inUse", code: "in_use", message, retryable: false, ambiguous: false });
    expect(error.request).toMatchObject({ method: "POST", operation: "saveTemplate" });
    expect(requests).toHaveLength(1);
  });

  test("is classified even if the HTTP status is an error", async () => {
    const { clients } = await startRig([
      json({ errors: [{ message: "endpoint template names must be unique" }] }, 400),
    ]);
    expect(await apiErrorOf(clients.management.createTemplate(templateInput))).toMatchObject({
      code: "duplicate_name",
    });
  });

  test("about the service itself is a server error: reads are retried, creates are not", async () => {
    const { clients, failure, result, requests } = await startRig([
      rejection("Unexpected error."),
      rejection("Unexpected error."),
      data(responses["secrets"]),
    ]);
    const error = await failure(clients.management.createTemplate(templateInput));
    expect(error).toMatchObject({ category: "server", ambiguous: true });
    expect(await result(clients.management.listSecrets())).toHaveLength(1);
    expect(requests).toHaveLength(3);
  });

  test("about the rate is retried after a wait, also for a create", async () => {
    const { clients, result, requests } = await startRig([
      rejection("Too many requests"),
      data(responses["secretCreate"]),
    ]);
    await result(clients.management.createSecret({ name: "hub", value: "v" }));
    expect(requests).toHaveLength(2);
  });
});

describe("an invalid response", () => {
  test.each([
    ["an HTML page", { action: "respond", status: 200, body: "<html></html>" } as const, "not a GraphQL response"],
    ["truncated JSON", { action: "respond", status: 200, body: '{"data":{"pod' } as const, "not a GraphQL response"],
    ["null", json(null), "not a GraphQL response"],
    ["null data without errors", json({ data: null }), "expected object"],
    ["a template without an id", data({ saveTemplate: { name: "x" } }), '"saveTemplate.id"'],
    ["a template that is null", data({ saveTemplate: null }), '"saveTemplate"'],
  ])("%s may mean that the template was created", async (_what, response, named) => {
    const { clients, requests } = await startRig([response]);
    const error = await apiErrorOf(clients.management.createTemplate(templateInput));
    expect(error).toMatchObject({ category: "server", code: "unexpected_response", retryable: false, ambiguous: true });
    expect(error.message).toContain(named);
    expect(requests).toHaveLength(1);
  });
});

test("saved credentials and a template before its update must have an id in the response", async () => {
  const { clients } = await startRig([
    data({ saveRegistryAuth: { name: "ghcr" } }),
    data({ podTemplate: { name: "x" } }),
  ]);
  const { management } = clients;
  const saved = await apiErrorOf(management.createRegistryAuth({ name: "ghcr", ...credentials }));
  expect(saved).toMatchObject({ code: "unexpected_response", ambiguous: true });
  expect(saved.message).toContain('"saveRegistryAuth.id"');
  const read = await apiErrorOf(management.updateTemplate("t1", { readme: "x" }));
  expect(read).toMatchObject({ code: "unexpected_response", ambiguous: false });
  expect(read.message).toContain('"podTemplate.id"');
});

test("a wrong path of the GraphQL address does not read as a missing template", async () => {
  const { clients } = await startRig([{ action: "respond", status: 404 }]);
  expect(await apiErrorOf(clients.management.readTemplate("t1"))).toMatchObject({ code: "wrong_address" });
});

describe("a call that waits for a retry", () => {
  test.each<[string, (reason: Error) => CallOptions]>([
    ["its waitSignal", (reason) => ({ waitSignal: AbortSignal.abort(reason) })],
    [
      "its waitSignal during the wait",
      (reason) => {
        const controller = new AbortController();
        return { waitSignal: controller.signal, onRetry: () => controller.abort(reason) };
      },
    ],
    [
      "an error of the caller's onRetry",
      (reason) => ({
        onRetry: () => {
          throw reason;
        },
      }),
    ],
  ])("rejects with the reason of %s", async (_what, optionsFor) => {
    const { clients } = await startRig([json({}, 503)]);
    const reason = new Error("stopped by the caller");
    await expect(clients.management.listSecrets(optionsFor(reason))).rejects.toBe(reason);
  });
});
