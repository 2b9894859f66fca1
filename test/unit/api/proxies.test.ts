import { type Proxies, parseProxy } from "serverless-compute-api";
import { expect, onTestFinished, test } from "vitest";
import { clientsAt, recordRetryDelays } from "../../support/client-rig";
import { type ConnectProxy, startConnectProxy } from "../../support/connect-proxy";
import { type FaultyServer, json, startFaultyServer } from "../../support/faulty-server";
import { unusedOrigin } from "../../support/loopback";

const clientsFor = (origin: string, proxies: Proxies) => {
  const { clients, failure } = clientsAt(origin, { proxies });
  return { management: clients.management, failure };
};

const service = (): Promise<FaultyServer> => startFaultyServer([json([])]);

async function proxyTo(target: string | number): Promise<ConnectProxy> {
  const proxy = await startConnectProxy(target);
  onTestFinished(() => proxy.close());
  return proxy;
}

test("calls go through the proxy, with credentials for the proxy only", async () => {
  const { origin, requests } = await service();
  const proxy = await proxyTo(origin);
  const { management } = clientsFor("http://service.test:8080", { http: proxy.origin.replace("//", "//ann:s3same@") });
  expect(await management.listEndpoints()).toEqual([]);
  const authorization = `Basic ${Buffer.from("ann:s3same").toString("base64")}`;
  expect(proxy.requests).toEqual([{ target: "service.test:8080", authorization }]);
  expect(
    requests.map(({ method, url, headers }) => [method, url, headers.host, headers["proxy-authorization"]]),
  ).toEqual([["GET", "/v1/endpoints", "service.test:8080", undefined]]);
});

test("https addresses use the https proxy, and the http proxy as a fallback", async () => {
  const refusing = await proxyTo(403);
  for (const proxies of [{ https: refusing.origin }, { http: refusing.origin }]) {
    const { management, failure } = clientsFor("https://service.test", proxies);
    await failure(management.listEndpoints());
  }
  expect(refusing.requests.map(({ target }) => target)).toEqual(["service.test:443", "service.test:443"]);
});

test("an empty address is no proxy", async () => {
  const { origin } = await service();
  const { management } = clientsFor(origin, { http: "", https: "", noProxy: "" });
  expect(await management.listEndpoints()).toEqual([]);
});

test("the first call after close is not sent to a proxy", async () => {
  const proxy = await proxyTo(403);
  const { clients, failure } = clientsAt("http://service.test", { proxies: { http: proxy.origin } });
  await clients.close();
  expect(await failure(clients.management.listEndpoints())).toMatchObject({ code: "closed" });
  expect(proxy.requests).toEqual([]);
});

test("loopback addresses never use a proxy", async () => {
  const { origin, requests } = await service();
  const proxy = await proxyTo(origin);
  for (const local of [origin, origin.replace("127.0.0.1", "localhost")]) {
    const { management } = clientsFor(local, { http: proxy.origin, https: proxy.origin });
    expect(await management.listEndpoints()).toEqual([]);
  }
  expect([proxy.requests, requests.length]).toEqual([[], 2]);
});

test("hosts in NO_PROXY are reached directly", async () => {
  const proxy = await proxyTo(403);
  const { management, failure } = clientsFor("http://api.service.invalid", {
    http: proxy.origin,
    noProxy: "service.invalid",
  });
  const error = await failure(management.listEndpoints());
  expect(error.message).toContain("api.service.invalid");
  expect(proxy.requests).toEqual([]);
});

test("a create that the proxy rejects fails immediately, unambiguously and without the proxy's password", async () => {
  const proxy = await proxyTo(407);
  const { management, failure } = clientsFor("http://service.test", {
    http: proxy.origin.replace("//", "//ann:s3same@"),
  });
  const volume = { name: "v", size: 1, dataCenterId: "EU" };
  const error = await failure(management.createNetworkVolume(volume));
  expect(error).toMatchObject({ category: "network", code: "proxied", retryable: false, ambiguous: false });
  expect(error.message).toContain("407");
  expect(`${error.stack}${String(error.cause)}`).not.toContain("s3same");
  expect(proxy.requests).toHaveLength(1);
});

test("an unreachable proxy fails after three attempts", async () => {
  const { management, failure } = clientsFor("http://service.test", { http: await unusedOrigin() });
  const { delays, onRetry } = recordRetryDelays();
  const error = await failure(management.listEndpoints({ onRetry }));
  expect(error).toMatchObject({ category: "network", code: "proxied", ambiguous: false });
  expect(error.message).toContain("ECONNREFUSED");
  expect(delays).toHaveLength(2);
});

test.each([
  ["proxy.example.com:3128", "http://proxy.example.com:3128"],
  ["https://ann:pw@proxy", "https://ann:pw@proxy"],
])("the proxy address %s is read as %s", (text, address) => {
  expect(parseProxy("HTTPS_PROXY", text)).toBe(address);
});

test.each(["socks5://ann:s3same@proxy", "http://", "http://ann:s3same@:x"])("%s is not a proxy address", (text) => {
  expect(() => parseProxy("HTTPS_PROXY", text)).toThrow(/^HTTPS_PROXY must be the address of a proxy, such as http/);
  expect(() => parseProxy("HTTPS_PROXY", text)).toThrow(/^((?!s3same).)*$/);
});

test.each(["http://ann:s3%me@proxy", "ann%:s3same@proxy"])("%s has an unencoded percent sign", (text) => {
  const message = /^HTTPS_PROXY .*%25/;
  expect(() => parseProxy("HTTPS_PROXY", text)).toThrow(TypeError);
  expect(() => parseProxy("HTTPS_PROXY", text)).toThrow(message);
  expect(() => parseProxy("HTTPS_PROXY", text)).toThrow(/^((?!s3|ann).)*$/);
});

test("createClients rejects an invalid proxy address with its variable and setting, without the password", () => {
  const create = (proxies: Proxies) => () => clientsFor("http://service.test", proxies);
  expect(create({ http: "http://ann:s3%me@proxy" })).toThrow(/^HTTP_PROXY \(proxies\.http\) ((?!s3).)*%25/);
  expect(create({ https: "socks5://ann:s3same@proxy" })).toThrow(
    /^HTTPS_PROXY \(proxies\.https\) must be the address of a proxy/,
  );
});
