import { createServer } from "node:net";
import { inspect } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { apiKey, startRig } from "../../support/client-rig";
import { type Behaviour, json } from "../../support/faulty-server";
import { longSecrets } from "../../support/long-secrets";
import { listenOnLoopback } from "../../support/loopback";
import { templateInput } from "../../support/records";

const secretValue = 'hunter2 "quoted"\nsecond line';
// Includes the beginning alone, because truncation before redaction would leave it.
const forms = (secret: string) => [secret.slice(0, 8), encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)];

/** Everything that a log, a user or a state file may contain of an error. */
function everyViewOf(error: Error): string {
  const chain: unknown[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause) chain.push(at.message, at.stack, at.name);
  return [inspect(error, { depth: 9, showHidden: true }), JSON.stringify(error), String(error), ...chain].join("\n");
}

function expectNone(error: Error, secret: string): void {
  const view = everyViewOf(error);
  for (const form of forms(secret)) expect(view.includes(form), view).toBe(false);
}

test("the scan finds an existing key", () => {
  expect(everyViewOf(new Error("outer", { cause: new Error(`bad key ${apiKey}`) }))).toContain(apiKey);
});

const echoes: [string, Behaviour][] = [
  ["in a 401", json({ message: `the key ${apiKey} is wrong` }, 401)],
  ["in a 500", json({ error: `Bearer ${apiKey}` }, 500)],
  ["in a GraphQL error", json({ errors: [{ message: `no user for ${apiKey}` }], data: null })],
  ["escaped, in an address", json({ message: `see /graphql?api_key=${encodeURIComponent(apiKey)}` }, 400)],
  ["in the address of a redirect", { action: "respond", status: 302, headers: { location: `/x?api_key=${apiKey}` } }],
  ["in an HTML page", { action: "respond", status: 502, body: `<html><title>${apiKey}</title></html>` }],
  ["where a long text is truncated", { action: "respond", status: 400, body: `${"x".repeat(490)}${apiKey}` }],
  ["as a field of the wrong type", json({ id: apiKey, name: [apiKey], templateId: "t" })],
  ["as text that is not JSON", { action: "respond", status: 200, body: apiKey }],
];

describe.each(echoes)("a key that the service echoes %s", (_where, response) => {
  test("is in no error of any API", async () => {
    const { clients, failure } = await startRig([response], { callTimeout: 1000 });
    expectNone(await failure(clients.management.createEndpoint({ templateId: "t" })), apiKey);
    expectNone(await failure(clients.management.listSecrets()), apiKey);
    expectNone(await failure(clients.jobs.status("ep", "job")), apiKey);
  });
});

test("a secret's value is in no error of calls that send it", async () => {
  const echo: Behaviour = json({
    errors: [{ message: `Variable "$value" got invalid value ${JSON.stringify(secretValue)}: ${secretValue}` }],
  });
  const { clients, failure } = await startRig([echo]);
  expectNone(await failure(clients.management.createSecret({ name: "n", value: secretValue })), secretValue);
  expectNone(await failure(clients.management.updateSecretValue({ id: "i", value: secretValue })), secretValue);
  const env = { TOKEN: secretValue };
  expectNone(await failure(clients.management.createTemplate({ ...templateInput, env })), secretValue);
});

test("values that calls of REST v2 send are in none of their errors", async () => {
  const template = { id: "t1", name: "chat", image: "acme/chat:1", env: { TOKEN: secretValue } };
  const { clients, failure } = await startRig(
    ({ method }) => (method === "GET" ? json(template) : json({ title: "Bad", status: 400, detail: secretValue }, 400)),
    { dialect: "v2" },
  );
  const { management } = clients;
  const env = { TOKEN: secretValue };
  const container = {
    imageName: "a:1",
    dockerArgs: "",
    ports: "",
    containerDiskInGb: 5,
    containerRegistryAuthId: null,
  };
  for (const call of [
    () => management.createTemplate({ ...templateInput, env }),
    () => management.updateTemplate("t2", { env }),
    () => management.createEndpoint({ templateId: "t1", computeType: "CPU" }),
    () => management.updateEndpoint("e1", { templateId: "t1" }),
    async () => management.updateCopy?.({ id: "e1" }, { templateId: "t1", ...container, env }),
    () => management.createSecret({ name: "n", value: secretValue }),
    () => management.updateSecretValue({ id: "s1", value: secretValue }),
    () => management.createRegistryAuth({ name: "n", username: "robot", password: secretValue }),
  ])
    expectNone(await failure(call()), secretValue);
});

describe.each(Object.entries(longSecrets()))("a long secret that the service echoes (%s)", (_name, secret) => {
  // redaction.test.ts checks the other forms of a secret.
  const pieces = [secret.slice(0, 30), secret.slice(300, 330), secret.slice(-30)];
  const echo = (message: string): Behaviour => json({ errors: [{ message }] });

  test.each([
    ["verbatim", `got ${secret}, which is too long`],
    ["where an error is truncated", `${"x".repeat(480)}${secret}`],
  ])("%s is in no error, whether a call sends it or its caller names it", async (_how, message) => {
    const { clients, failure } = await startRig([echo(message)]);
    const { management } = clients;
    const errors = [
      await failure(management.createSecret({ name: "n", value: secret })),
      await failure(management.createTemplate({ ...templateInput, env: { TOKEN: secret } })),
      await failure(management.createTemplate({ ...templateInput, dockerArgs: secret }, { secrets: [secret] })),
    ];
    for (const error of errors) {
      const view = everyViewOf(error);
      expect(view).toContain("[secret]");
      for (const piece of pieces) expect(view.includes(piece), view).toBe(false);
      for (const piece of pieces) expect(view.includes(JSON.stringify(piece).slice(1, -1)), view).toBe(false);
    }
  });
});

test.each([
  ["unique", "secret names must be unique", "duplicate_name"],
  ["already exists", 'the name "n" already exists', "duplicate_name"],
  ["found", 'secret "n" not found', "not_found"],
  ["rate limit", "rate limit reached", "rate_limited"],
  ["unauthorized", "unauthorized", "unauthorized"],
])(
  "a value that is a word of the message (%s) does not change the category of the error",
  async (value, message, code) => {
    const { clients, failure } = await startRig([json({ errors: [{ message }] })]);
    const error = await failure(clients.management.createSecret({ name: "n", value }));
    expect(error.code).toBe(code);
    expect(error.message).not.toContain(value);
  },
);

test("a secret's value is in no error for a response that is not GraphQL", async () => {
  const { clients, failure } = await startRig([json([1, 2, 3])]);
  expectNone(await failure(clients.management.createSecret({ name: "n", value: secretValue })), secretValue);
});

test("the key is in no connection error", async () => {
  const { clients, failure } = await startRig([{ action: "reset" }]);
  const error = await failure(clients.management.createEndpoint({ templateId: "t" }));
  expect(error.cause).toBeInstanceOf(Error);
  expectNone(error, apiKey);
});

test("the key is in no error of a peer that echoes it", async () => {
  const peer = createServer((socket) => void socket.on("error", () => undefined).pipe(socket));
  const baseUrl = `${await listenOnLoopback(peer)}/v1`;
  onTestFinished(() => void peer.close());
  const { clients, failure } = await startRig([json([])], { baseUrl });
  const error = await failure(clients.management.listEndpoints());
  expect(error.code).toBe("not_http");
  expectNone(error, apiKey);
});

test("the key is in the Authorization header only, never in an address", async () => {
  const { clients, failure, requests } = await startRig([json({ message: "no" }, 400)]);
  await failure(clients.management.listEndpoints());
  await failure(clients.management.listTemplates());
  await failure(clients.jobs.health("ep"));
  expect(requests.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill(`Bearer ${apiKey}`));
  expect(requests.map(({ url }) => url)).toEqual(["/v1/endpoints", "/graphql", "/v2/ep/health"]);
});

test("inspecting the clients does not show the key", async () => {
  const { clients } = await startRig([json([])]);
  expect(inspect(clients, { depth: 9, showHidden: true })).not.toContain(apiKey);
});
