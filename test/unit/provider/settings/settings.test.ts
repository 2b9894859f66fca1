import { describe, expect, test } from "vitest";
import { type SettingName, settingTable } from "../../../../provider/settings/setting-table";
import {
  type ConfigLookup,
  keyExposures,
  resolveDialect,
  resolvePreflight,
  resolveServerlessUrl,
  resolveSettings,
  settingErrors,
} from "../../../../provider/settings/settings";

/** The stack's config, by names of settings. */
const lookup =
  (values: Record<string, string>): ConfigLookup =>
  (key) =>
    values[key.replace("serverless-compute:", "")];
const key = { SERVERLESS_COMPUTE_API_KEY: "env-key" };

describe("a missing key", () => {
  test("names both settings and the source of the local service's key", () => {
    expect(() => resolveSettings(lookup({}), {})).toThrow(
      /the API key of http:\/\/127\.0\.0\.1:7337\/v2 is missing: set .*serverless-compute:apiKey.*SERVERLESS_COMPUTE_API_KEY.*npx --no serverless-compute-local key/,
    );
  });

  test("does not mention the local service for another address", () => {
    const hosted = { SERVERLESS_COMPUTE_BASE_URL: "https://rest.example.com/v1" };
    expect(() => resolveSettings(lookup({}), hosted)).toThrow(/^(?!.*serverless-compute-local).*is missing/);
  });

  test("includes an empty key", () => {
    expect(() => resolveSettings(lookup({ apiKey: " " }), {})).toThrow(/is missing/);
  });
});

test("only the key is required; addresses default to the local service", () => {
  expect(resolveSettings(lookup({}), key)).toEqual({
    clients: {
      apiKey: "env-key",
      dialect: "v2",
      baseUrl: "http://127.0.0.1:7337/v2",
      graphqlUrl: "http://127.0.0.1:7337/graphql",
      serverlessUrl: "http://127.0.0.1:7337",
      callTimeout: 120_000,
      maxInFlight: 16,
    },
    lifecycle: {
      templateReleaseLimit: 150_000,
      names: expect.objectContaining({ apiKey: "SERVERLESS_COMPUTE_API_KEY" }),
    },
  });
});

test("the stack's config takes precedence over the environment, per setting", () => {
  const settings = resolveSettings(
    lookup({
      apiKey: "config-key",
      graphqlUrl: "https://config.example.com/graphql",
      templateReleaseLimit: "20",
      callLimit: "300",
      maxInFlight: "40",
    }),
    {
      ...key,
      SERVERLESS_COMPUTE_BASE_URL: "https://env.example.com/v1",
      SERVERLESS_COMPUTE_GRAPHQL_URL: "https://env.example.com/graphql",
      SERVERLESS_COMPUTE_SERVERLESS_URL: "https://jobs.example.com",
      SERVERLESS_COMPUTE_TEMPLATE_RELEASE_LIMIT: "90",
    },
  );
  expect(settings).toEqual({
    clients: {
      apiKey: "config-key",
      dialect: "v1",
      baseUrl: "https://env.example.com/v1",
      graphqlUrl: "https://config.example.com/graphql",
      serverlessUrl: "https://jobs.example.com",
      callTimeout: 300_000,
      maxInFlight: 40,
    },
    lifecycle: {
      templateReleaseLimit: 20_000,
      names: {
        apiKey: "the config serverless-compute:apiKey",
        addresses:
          "SERVERLESS_COMPUTE_BASE_URL and serverless-compute:graphqlUrl and SERVERLESS_COMPUTE_SERVERLESS_URL",
        baseUrl: "SERVERLESS_COMPUTE_BASE_URL",
        serverlessUrl: "SERVERLESS_COMPUTE_SERVERLESS_URL",
        dialect: "serverless-compute:dialect (or SERVERLESS_COMPUTE_DIALECT)",
        templateReleaseLimit: "serverless-compute:templateReleaseLimit",
        fromEnvironment: ["baseUrl", "serverlessUrl"],
      },
    },
  });
});

describe("url", () => {
  const url = "http://127.0.0.1:9000";

  test("determines all three addresses", () => {
    const { clients } = resolveSettings(lookup({}), { ...key, SERVERLESS_COMPUTE_URL: url });
    expect(clients).toMatchObject({ baseUrl: `${url}/v2`, graphqlUrl: `${url}/graphql`, serverlessUrl: url });
  });

  test("in the stack's config overrides addresses in the environment", () => {
    const { clients } = resolveSettings(lookup({ url }), {
      ...key,
      SERVERLESS_COMPUTE_BASE_URL: "https://env.example.com/v1",
      SERVERLESS_COMPUTE_SERVERLESS_URL: "https://env.example.com",
    });
    expect(clients).toMatchObject({ dialect: "v2", baseUrl: `${url}/v2`, serverlessUrl: url });
  });

  test("does not override an address from the same source", () => {
    const config = { url, baseUrl: "http://127.0.0.1:1/v1" };
    expect(resolveSettings(lookup(config), key).clients).toMatchObject({
      dialect: "v1",
      baseUrl: "http://127.0.0.1:1/v1",
      serverlessUrl: url,
    });
  });
});

test("an invalid address is reported without a key or a password in it", () => {
  const url = "http://someone:hunter2@localhost/env-key?x=1";
  const [mistake] = settingErrors(lookup({ baseUrl: url }), key);
  expect(mistake).toMatchObject({
    name: "baseUrl",
    reason: expect.stringContaining('is "http://localhost/[secret]'),
  });
  expect(mistake?.reason).not.toMatch(/hunter2|env-key/);
});

test("all mistakes are reported together; a missing key is not one of them", () => {
  const config = lookup({ callLimit: "soon", maxInFlight: "0" });
  expect(settingErrors(config, {}).map(({ name }) => name)).toEqual(["callLimit", "maxInFlight"]);
  expect(settingErrors(lookup({}), {})).toEqual([]);
});

describe("the address of the job API alone", () => {
  const config = { serverlessUrl: "https://JOBS.example.com/api//" };

  test("requires no key and is normalised as for the clients", () => {
    expect(resolveServerlessUrl(lookup(config), {})).toBe("https://jobs.example.com/api");
    expect(resolveServerlessUrl(lookup({}), { SERVERLESS_COMPUTE_SERVERLESS_URL: "http://[::1]:80/" })).toBe(
      "http://[::1]",
    );
    expect(resolveServerlessUrl(lookup({}), {})).toBe("http://127.0.0.1:7337");
  });

  test("is undefined for an invalid setting", () => {
    expect(resolveServerlessUrl(lookup({ serverlessUrl: "not a URL" }), {})).toBeUndefined();
  });
});

describe("a key that is sent unencrypted over a network", () => {
  const exposures = (values: Record<string, string>, environment = {}) => keyExposures(lookup(values), environment);
  const exposed = (setting: string, origin: string) =>
    `${setting}: the API key is sent to ${origin} unencrypted; use https://`;

  test("is one warning per setting, even without a key", () => {
    expect(exposures({ url: "http://gpu.example.com:8080" })).toEqual([
      exposed("serverless-compute:url", "http://gpu.example.com:8080"),
    ]);
    expect(exposures({}, { SERVERLESS_COMPUTE_URL: "http://gpu.example.com" })).toEqual([
      exposed("SERVERLESS_COMPUTE_URL", "http://gpu.example.com"),
    ]);
    expect(
      exposures({
        url: "https://gpu.example.com",
        baseUrl: "http://a.example.com/v2",
        graphqlUrl: "http://b.example.com",
      }),
    ).toEqual([
      exposed("serverless-compute:baseUrl", "http://a.example.com"),
      exposed("serverless-compute:graphqlUrl", "http://b.example.com"),
    ]);
  });

  test("is no warning for loopback, HTTPS and invalid addresses", () => {
    expect(exposures({})).toEqual([]);
    expect(exposures({ target: "hosted" })).toEqual([]);
    expect(exposures({ url: "http://[::1]:1", serverlessUrl: "http://localhost", baseUrl: "http:" })).toEqual([]);
  });
});

test("proxies come from the environment, lowercase variables first", () => {
  const proxies = (environment: Record<string, string>) =>
    resolveSettings(lookup({}), { ...key, ...environment }).clients.proxies;
  expect(proxies({})).toBeUndefined();
  expect(proxies({ NO_PROXY: "a.example", HTTPS_PROXY: " " })).toBeUndefined();
  expect(proxies({ HTTPS_PROXY: "proxy:1", NO_PROXY: "a.example" })).toEqual({
    http: undefined,
    https: "proxy:1",
    noProxy: "a.example",
  });
  expect(proxies({ http_proxy: "http://small", HTTP_PROXY: "http://LARGE" })).toMatchObject({ http: "http://small" });
});

describe("target and dialect", () => {
  test.each<[Record<string, string>, string, string]>([
    [{}, "v2", "http://127.0.0.1:7337/v2"],
    [{ dialect: "v1" }, "v1", "http://127.0.0.1:7337/v1"],
    [{ baseUrl: "http://127.0.0.1:80/v1" }, "v1", "http://127.0.0.1:80/v1"],
    [{ url: "http://127.0.0.1:80/" }, "v2", "http://127.0.0.1:80/v2"],
    [{ url: "http://127.0.0.1:80", dialect: "v1" }, "v1", "http://127.0.0.1:80/v1"],
    [{ target: "local", baseUrl: "http://127.0.0.1:80/v2/" }, "v2", "http://127.0.0.1:80/v2/"],
    [{ baseUrl: "https://gateway.example.com/compute", dialect: "v2" }, "v2", "https://gateway.example.com/compute"],
  ])("%j is dialect %s at %s", (values, dialect, baseUrl) => {
    expect(resolveSettings(lookup(values), key).clients).toMatchObject({ dialect, baseUrl });
    expect(resolveDialect(lookup(values), {})).toBe(dialect);
  });

  test("hosted has its own addresses over TLS and its current dialect as the default", () => {
    const hosted = resolveSettings(lookup({ target: "hosted" }), key).clients;
    expect(hosted.dialect).toBe("v2");
    for (const url of [hosted.baseUrl, hosted.graphqlUrl, hosted.serverlessUrl]) expect(url).toMatch(/^https:/);
    expect(hosted.baseUrl).toMatch(/\/v2$/);
    expect(resolveSettings(lookup({ target: "hosted", dialect: "v1" }), key).clients.baseUrl).toMatch(/\/v1$/);
  });
});

test.each<[Record<string, string>, string, string]>([
  [{ templateReleaseLimit: "soon" }, "templateReleaseLimit", 'is "soon"; must be a number of seconds above 0'],
  [{ templateReleaseLimit: "-1" }, "templateReleaseLimit", 'is "-1"; must be a number of seconds above 0'],
  [{ callLimit: "0" }, "callLimit", 'is "0"; must be a number of seconds above 0'],
  [{ maxInFlight: "2.5" }, "maxInFlight", 'is "2.5"; must be a whole number, 1 or more'],
  [{ maxInFlight: "many" }, "maxInFlight", 'is "many"; must be a whole number, 1 or more'],
  [{ preflight: "on" }, "preflight", 'is "on"; must be "off", "warn" or "error"'],
  [{ baseUrl: "localhost/v1" }, "baseUrl", 'is "localhost/v1"; must be a URL such as http://127.0.0.1:7337'],
  [{ graphqlUrl: "ftp://localhost/graphql" }, "graphqlUrl", "must start with http:// or https://"],
  [{ serverlessUrl: "http://localhost/?a=b" }, "serverlessUrl", "must not contain a user name, a query or a"],
  [{ target: "moon" }, "target", 'is "moon"; must be "local" or "hosted"'],
  [{ dialect: "v3" }, "dialect", 'is "v3"; must be "v1" or "v2"'],
  [{ target: "hosted", baseUrl: "https://rest.example.com/v1" }, "baseUrl", "cannot be combined with"],
  [{ target: "hosted", graphqlUrl: "https://x.example.com" }, "graphqlUrl", "cannot be combined with"],
  [{ target: "hosted", url: "https://x.example.com" }, "url", "cannot be combined with"],
  [{ url: "http://127.0.0.1:80/v2" }, "url", "must be the service's root, without /v2"],
  [
    { dialect: "v2", baseUrl: "http://127.0.0.1:1/v1" },
    "dialect",
    'is "v2", but serverless-compute:baseUrl ends in /v1',
  ],
  [
    { dialect: "v1", baseUrl: "http://127.0.0.1:1/v2" },
    "dialect",
    'is "v1", but serverless-compute:baseUrl ends in /v2',
  ],
])("%j is rejected, also without a key", (values, name, reason) => {
  const subject = new RegExp(`^serverless-compute:${name} `);
  expect(settingErrors(lookup(values), {})).toMatchObject([{ name, reason: expect.stringContaining(reason) }]);
  expect(() => resolveSettings(lookup(values), key)).toThrow(subject);
  // The check of a resource resolves the dialect.
  expect(() => resolveDialect(lookup(values), {})).toThrow(subject);
});

const invalidTexts = {
  target: "moon",
  dialect: "v3",
  url: "localhost",
  baseUrl: "localhost/v1",
  graphqlUrl: "ftp://localhost/graphql",
  serverlessUrl: "localhost",
  callLimit: "0",
  maxInFlight: "many",
  preflight: "on",
  templateReleaseLimit: "soon",
} satisfies Record<Exclude<SettingName, "apiKey">, string>;

test.each(Object.entries(invalidTexts))("a message about %s names the source of the value", (name, text) => {
  const values = { [name]: text };
  const [variable = ""] = Object.entries(settingTable).flatMap(([key, rule]) => (key === name ? rule.variable : []));
  const arguments_ = Object.assign(lookup(values), { isProvider: true });
  const reasons = [
    settingErrors(lookup(values), {}),
    settingErrors(arguments_, {}),
    settingErrors(lookup({}), { [variable]: text }),
  ];
  expect(reasons.map(([error]) => error?.reason.split(/(?<=\w) (?=is|must)/)[0])).toEqual([
    `serverless-compute:${name}`,
    `the provider's argument ${name}`,
    variable,
  ]);
});

test("a conflict names the sources of both settings", () => {
  const environment = { SERVERLESS_COMPUTE_TARGET: "hosted" };
  expect(settingErrors(lookup({ url: "https://x.example.com" }), environment)[0]?.reason).toMatch(
    /^serverless-compute:url cannot be combined with SERVERLESS_COMPUTE_TARGET "hosted"/,
  );
});

test("the preflight is off by default, and its mode needs no key", () => {
  const mode = (values: Record<string, string>, environment = {}) => resolvePreflight(lookup(values), environment);
  expect(mode({})).toBe("off");
  expect(mode({ preflight: "warn" }, { SERVERLESS_COMPUTE_PREFLIGHT: "error" })).toBe("warn");
  expect(mode({}, { SERVERLESS_COMPUTE_PREFLIGHT: "error" })).toBe("error");
  expect(() => mode({ preflight: "on" })).toThrow('is "on"; must be "off", "warn" or "error"');
});
