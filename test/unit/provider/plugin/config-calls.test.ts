import { describe, expect, onTestFinished, test, vi } from "vitest";
import { diffChanges } from "../../../../provider/engine/messages";
import { createProviderProcess } from "../../../../provider/framework/process";
import { configCalls } from "../../../../provider/plugin/config-calls";
import { listCalls } from "../../../../provider/plugin/list-calls";
import { lookupCalls } from "../../../../provider/plugin/lookup-calls";
import { resourceCalls } from "../../../../provider/plugin/resource-calls";
import { kinds } from "../../../../provider/resources";
import { json, startFaultyServer } from "../../../support/faulty-server";
import { engineProperties, roundTrip } from "../../../support/property-sets";

const calls = configCalls(createProviderProcess(() => undefined));

const check = (settings: object) => {
  const { inputs, failures = [] } = calls.checkConfig({
    urn: "",
    olds: engineProperties({}),
    news: engineProperties(settings),
    randomSeed: undefined,
    autonaming: undefined,
  });
  return { reasons: failures.map(({ reason }) => reason), inputs: roundTrip(inputs) };
};

const diffConfig = (olds: object, news: object): boolean =>
  calls.diffConfig({ id: "", urn: "", olds: engineProperties(olds), news: engineProperties(news) }).changes ===
  diffChanges.some;

test("accepts numbers as numbers and as strings, and returns them unchanged", () => {
  for (const settings of [
    { callLimit: 12.5, maxInFlight: 4, templateReleaseLimit: 20 },
    { callLimit: "12.5", maxInFlight: "4", templateReleaseLimit: "20" },
  ]) {
    expect(check(settings)).toEqual({ reasons: [], inputs: { properties: settings, secretPaths: [] } });
  }
});

test("marks the key as secret", () => {
  expect(check({ apiKey: "k-1" }).inputs.secretPaths).toEqual([["apiKey"]]);
});

test.each<[string, object, string | RegExp]>([
  [
    "a string that is not a number",
    { callLimit: "soon" },
    /^serverless-compute:callLimit is "soon"; must be a number of sec/,
  ],
  ["a list", { callLimit: [1] }, "callLimit: is [1]; must be a number"],
  ["a number instead of a string", { baseUrl: 7337 }, "baseUrl: is 7337; must be a string"],
  ["a number instead of a key", { apiKey: 1234567 }, "apiKey: must be a string"],
  ["a misspelt setting", { maxInflight: 4 }, 'maxInflight: unknown setting; did you mean "maxInFlight"?'],
])("rejects %s in a message that names the setting", (_, settings, reason) => {
  expect(check(settings).reasons).toEqual([typeof reason === "string" ? reason : expect.stringMatching(reason)]);
});

test("includes no secret value in a message", () => {
  const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" };
  const hidden = (value: unknown) => ({ ...secret, value });
  const { reasons } = check({
    apiKey: "planted-key-9b2e",
    baseUrl: hidden("planted-host/v1"),
    graphqlUrl: "https://x/graphql?api_key=planted-other",
    serverlessUrl: "https://me:planted/pass@word@x",
    callLimit: "planted-key-9b2e",
    maxInFlight: hidden(["planted"]),
  });
  expect(reasons).toHaveLength(5);
  expect(reasons.join("\n")).not.toMatch(/planted|word/);
});

test("accepts fields of the engine and unknown values", () => {
  const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
  expect(check({ version: "0.1.0", pluginDownloadURL: "x", baseUrl: unknown, callLimit: unknown }).reasons).toEqual([]);
});

test("treats a number and its string as equal, and reports other values as changes", () => {
  expect(diffConfig({ callLimit: "30" }, { callLimit: 30 })).toBe(false);
  expect(diffConfig({ callLimit: 30 }, { callLimit: 31 })).toBe(true);
});

describe("a provider with other settings", () => {
  const replaces = (olds: object, news: object): readonly string[] =>
    calls.diffConfig({ id: "", urn: "", olds: engineProperties(olds), news: engineProperties(news) }).replaces ?? [];
  const [local, other] = ["http://127.0.0.1:7337", "https://compute.example"];

  test.each<[string, object, object, string[]]>([
    ["the hosted service instead of a local one", { target: "local" }, { target: "hosted" }, ["target"]],
    ["the hosted service instead of the default", {}, { target: "hosted" }, ["target"]],
    ["a local service again", { target: "hosted" }, {}, ["target"]],
    [
      "the hosted service instead of another host",
      { url: other },
      { baseUrl: "https://rest.runpod.io/v1" },
      ["url", "baseUrl"],
    ],
  ])("%s replaces its resources", (_, olds, news, keys) => {
    expect(replaces(olds, news)).toEqual(keys);
    expect(diffConfig(olds, news)).toBe(true);
  });

  test.each<[string, object, object]>([
    ["another key", { apiKey: "k-1" }, { apiKey: "k-2" }],
    ["another port", { url: local }, { url: "http://127.0.0.1:7400" }],
    ["another host name of this machine", { url: local }, { url: "http://localhost:7337" }],
    ["the default address set explicitly", {}, { url: local }],
    ["another host, which may be the same service", { url: local }, { url: other }],
    ["another host of the REST API", { baseUrl: `${local}/v2` }, { baseUrl: `${other}/v2` }],
    ["another port of another host", { url: other }, { url: `${other}:8443` }],
    ["another API version", { dialect: "v1" }, { dialect: "v2" }],
    ["another API version of the hosted service", { target: "hosted", dialect: "v1" }, { target: "hosted" }],
    ["the hosted service's address", { target: "hosted" }, { baseUrl: "https://api.runpod.io/v2" }],
    ["another API version by its address", { baseUrl: `${other}/v1` }, { baseUrl: `${other}/v2` }],
    ["another address of the job API", { url: other }, { url: other, serverlessUrl: "https://jobs.example" }],
    ["an unknown address", { url: local }, { url: "04da6b54-80e4-46f7-96ec-b56ff0331ba9" }],
    ["a new setting that is unknown", {}, { callLimit: "04da6b54-80e4-46f7-96ec-b56ff0331ba9" }],
    ["limits", { callLimit: 30 }, { callLimit: 60 }],
  ])("%s replaces nothing", (_, olds, news) => {
    expect(replaces(olds, news)).toEqual([]);
    expect(diffConfig(olds, news)).toBe(true);
  });
});

test.each<[source: string, provider: string, args: object, variable: string, names: string]>([
  ["a provider's argument", "east", { apiKey: "wrong" }, "", "the provider's argument apiKey;"],
  ["an argument of a provider", "default-east", { apiKey: "wrong" }, "", "the provider's argument apiKey;"],
  ["the stack's config", "default_0_2_0", { apiKey: "wrong" }, "", "the config serverless-compute:apiKey;"],
  ["the environment", "default_0_2_0", {}, "wrong", "SERVERLESS_COMPUTE_API_KEY;"],
  ["the environment of an explicit provider", "east", {}, "wrong", "SERVERLESS_COMPUTE_API_KEY;"],
])(
  "a rejected key from %s is reported with its source, by resources, lookups and lists",
  async (_, provider, args, variable, names) => {
    const server = await startFaultyServer([json({ message: "who are you?" }, 401)]);
    vi.stubEnv("SERVERLESS_COMPUTE_API_KEY", variable);
    onTestFinished(() => void vi.unstubAllEnvs());
    const host = createProviderProcess(() => undefined);
    const urn = `urn:pulumi:dev::shop::pulumi:providers:serverless-compute::${provider}`;
    configCalls(host).configure({ urn, args: engineProperties({ ...args, url: server.origin }) });
    const message = (call: Promise<unknown>): Promise<string> => call.then(String, ({ message: text }: Error) => text);
    const volume = { urn: "urn:pulumi:dev::shop::serverless-compute:index:NetworkVolume::models", timeout: 0 };
    const properties = engineProperties({ name: "models", size: 10, dataCenterId: "EU-RO-1" });
    const empty = engineProperties({});
    const { create, read } = resourceCalls(host, kinds);
    const messages = await Promise.all([
      message(create({ ...volume, properties, preview: false })),
      message(read({ ...volume, id: "v1", properties, inputs: properties })),
      message(lookupCalls(host).invoke({ token: "x:index:getTemplate", args: engineProperties({ name: "chat" }) })),
      message(lookupCalls(host).invoke({ token: "x:index:getGpuTypes", args: empty })),
      message(
        listCalls(host).list({ token: "x:index:Secret", query: empty, limit: 0, pageSize: 0, continuationToken: "" }),
      ),
    ]);
    const sources = messages.map((text) => /The key comes from (.*?;)/.exec(text)?.[1]);
    expect(sources).toEqual(messages.map(() => names));
    // The engine keeps no environment in the state.
    expect(messages[1]?.includes("use the config of the last")).toBe(variable === "");
  },
);
