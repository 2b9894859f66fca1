import { createClients } from "serverless-compute-api";
import { describe, expect, test } from "vitest";
import { apiErrorOf, clientsAt, startRig } from "../../support/client-rig";
import { json } from "../../support/faulty-server";

const settings = {
  apiKey: "sck_1234567890",
  baseUrl: "http://127.0.0.1:1/v1",
  graphqlUrl: "http://127.0.0.1:1/graphql",
  serverlessUrl: "http://127.0.0.1:1",
};

const messageOf = (more: Record<string, unknown>): string => {
  try {
    createClients({ ...settings, ...more });
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
  return "no error";
};

describe.each(["baseUrl", "graphqlUrl", "serverlessUrl"])("%s", (name) => {
  test.each([
    ["", "must be a URL"],
    ["127.0.0.1:7337", "must be a URL"],
    ["/v1", "must be a URL"],
    ["localhost:7337", "must start with http:// or https://"],
    ["ftp://127.0.0.1/v1", "must start with http:// or https://"],
    ["http://127.0.0.1/v1#x", "a fragment"],
  ])("%j is rejected; the error contains the setting, the value and the rule", (value, allowed) => {
    const message = messageOf({ [name]: value });
    expect(message).toContain(`${name} is ${JSON.stringify(value)}; `);
    expect(message).toContain(allowed);
  });

  test("a query is rejected without its values, which may contain a key", () => {
    const message = messageOf({ [name]: "http://127.0.0.1/v1?x=1" });
    expect(message).toContain(`${name} is "http://127.0.0.1/v1?x=…"; `);
    expect(message).toContain("a query");
  });

  test("a key or a password in the address is rejected without being shown", () => {
    expect(messageOf({ [name]: `http://host/graphql?api_key=${settings.apiKey}` })).not.toContain(settings.apiKey);
    const withPassword = messageOf({ [name]: "http://me:opensesame@host/v1" });
    expect(withPassword).toContain("contain a user name");
    expect(withPassword).not.toContain("opensesame");
  });
});

test.each(["", "two words", "line\nbreak", "naïve"])("the key %j is rejected without being shown", (apiKey) => {
  const message = messageOf({ apiKey });
  expect(message).toMatch(/^apiKey is (empty|not a single word)/);
  if (apiKey !== "") expect(message).not.toContain(apiKey);
});

test.each(["apiKey", "baseUrl", "graphqlUrl", "serverlessUrl"])("a missing %s is rejected by name", (name) => {
  expect(messageOf({ [name]: undefined })).toMatch(new RegExp(`^${name} is (empty$|"undefined"; must be a URL)`));
});

test.each(["attemptTimeout", "callTimeout", "maxInFlight"])("%s below 1 is rejected by name", (name) => {
  expect(messageOf({ [name]: 0 })).toBe(`${name} is 0; must be a number of at least 1`);
  expect(messageOf({ [name]: "30000" })).toContain("must be a number");
  expect(messageOf({ [name]: Number.NaN })).toContain(name);
});

test.each(["v3", "V2", "", 2])("the dialect %j is rejected by name", (dialect) => {
  expect(messageOf({ dialect })).toBe(`dialect is "${dialect}"; must be "v1" or "v2"`);
});

test.each(["", "/v2", "/v2/", "/gateway", "/gateway/v2"])(
  "the job API with %j in its address is found",
  async (path) => {
    const { origin, requests } = await startRig([json({ id: "j", status: "IN_QUEUE" })]);
    const { clients } = clientsAt(origin, { serverlessUrl: origin + path });
    await clients.jobs.run("ep", { input: {} });
    const root = path.startsWith("/gateway") ? "/gateway" : "";
    expect(requests.map(({ url }) => url)).toEqual([`${root}/v2/ep/run`]);
    expect(clients.jobs.url("ep")).toBe(`${origin}${root}/v2/ep`);
  },
);

test("a setting or an option that is undefined has its default", async () => {
  const defaults = { attemptTimeout: undefined, callTimeout: undefined, maxInFlight: undefined, proxies: undefined };
  const response = json({ id: "j", status: "COMPLETED", secrets: [] });
  const { origin, requests } = await startRig([response]);
  const { clients } = clientsAt(origin, { ...defaults, dialect: "v2", clock: undefined, random: undefined });
  await clients.jobs.runsync("ep", { input: {} }, { wait: undefined, timeout: undefined, signal: undefined });
  await clients.management.listSecrets({ signal: undefined });
  expect(requests.map(({ url }) => url)).toEqual(["/v2/ep/runsync", "/v2/account/secrets"]);
});

test("trailing slashes of an address are ignored", async () => {
  const { origin, requests } = await startRig(({ url }) =>
    json(url.includes("run") ? { id: "j", status: "IN_QUEUE" } : url.includes("v1") ? [] : { data: { myself: {} } }),
  );
  const { clients } = clientsAt(`${origin}/`, { baseUrl: `${origin}/v1//`, graphqlUrl: `${origin}/graphql/` });
  await clients.management.listEndpoints();
  await clients.management.listSecrets();
  await clients.jobs.run("ep", { input: {} });
  expect(requests.map(({ url }) => url)).toEqual(["/v1/endpoints", "/graphql", "/v2/ep/run"]);
  expect(clients.jobs.url("ep")).toBe(`${origin}/v2/ep`);
});

test("every API rejects a wrong key without a retry", async () => {
  const { clients, requests } = await startRig([json({ message: "unauthorized" }, 401)]);
  const calls = [clients.management.listEndpoints(), clients.management.listSecrets(), clients.jobs.health("ep")];
  for (const error of calls.map(apiErrorOf)) expect(await error).toMatchObject({ category: "auth" });
  expect(requests).toHaveLength(3);
});
