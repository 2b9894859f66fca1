import { connect } from "node:net";
import { systemClock } from "serverless-compute-api/clock";
import { describe, expect, test } from "vitest";
import { createConsoleGuard } from "../../../../service/console/guard";
import { createConsoleSessions } from "../../../../service/console/sessions";
import { rootOf } from "../../../../service/listening";
import { steadyClock } from "../../../../service/steady-clock";
import { createEndpoint } from "../../../support/endpoint";
import { at, getWithHost, send, stringAt } from "../../../support/raw-http";
import { openLink, pageHeaders, useConsoleService } from "./support/console-rig";

describe("the link that start prints", () => {
  test("is exchanged once for a cookie that is HTTP-only and same-site, and removed from the address", async () => {
    const { consoleUrl, serverlessUrl } = await useConsoleService();
    expect(consoleUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?t=[\w-]{43}$/);
    const opened = await send("GET", consoleUrl ?? "");
    expect([opened.status, opened.headers.get("location"), opened.text]).toEqual([303, "/", ""]);
    const port = new URL(serverlessUrl).port;
    expect(opened.headers.get("set-cookie")).toMatch(
      new RegExp(
        `^serverless-compute-console-${port}=[\\w.-]+; HttpOnly; SameSite=Strict; Path=/console; Max-Age=604800$`,
      ),
    );
    const again = await send("GET", consoleUrl ?? "");
    expect([again.status, again.headers.get("location"), again.headers.get("set-cookie")]).toEqual([
      303,
      "/#/used-link",
      null,
    ]);
  });

  test("is issued again to a client with the key, and to no other", async () => {
    const { serverlessUrl, apiKey, consoleUrl } = await useConsoleService();
    const request = (headers: Record<string, string>) => send("POST", `${serverlessUrl}/console/links`, { headers });
    const cookie = await openLink(consoleUrl);
    expect((await request({})).status).toBe(401);
    expect((await request({ authorization: "Bearer wrong" })).status).toBe(401);
    expect((await request(pageHeaders(serverlessUrl, cookie))).status).toBe(401);
    const link = stringAt(await request({ authorization: `Bearer ${apiKey}` }), "url");
    expect(link).not.toBe(consoleUrl);
    expect(await openLink(link)).not.toBe(cookie);
  });
});

test("data requires a session; without one only the empty page is served", async () => {
  const { serverlessUrl, apiKey } = await useConsoleService();
  const page = await send("GET", `${serverlessUrl}/`);
  expect(page.status).toBe(200);
  expect(page.text).not.toContain(apiKey);
  for (const path of [
    "api/session",
    "api/events",
    "api/endpoints/e/jobs",
    "api/endpoints/e/jobs/retryable",
    "api/endpoints/e/jobs/j/input",
    "v2/e/health",
  ]) {
    const rejected = await send("GET", `${serverlessUrl}/console/${path}`);
    expect(rejected.status, path).toBe(401);
    expect(at(rejected.json, "message")).toMatch(/serverless-compute-local open/);
    const withKey = await send("GET", `${serverlessUrl}/console/${path}`, { key: apiKey });
    expect(withKey.status, `${path} with the API key`).toBe(401);
  }
  for (const path of ["v2/e/run", "api/endpoints/e/retries"])
    expect((await send("POST", `${serverlessUrl}/console/${path}`, { json: {} })).status, path).toBe(403);
  const faults = await send("PATCH", `${serverlessUrl}/console/api/endpoints/e/faults`, { json: { noStock: true } });
  expect(faults.status).toBe(403);
});

test("a session opens the console and no API", async () => {
  const service = await useConsoleService();
  const { serverlessUrl, baseUrl, graphqlUrl } = service;
  const id = await createEndpoint(service, "nothing:1");
  const headers = pageHeaders(serverlessUrl, await openLink(service.consoleUrl));
  const get = async (url: string): Promise<number> => (await send("GET", url, { headers })).status;
  expect(await get(`${serverlessUrl}/console/api/session`)).toBe(200);
  expect(await get(`${serverlessUrl}/console/v2/${id}/health`)).toBe(200);
  expect(await get(`${baseUrl}/endpoints`)).toBe(401);
  expect(await get(`${serverlessUrl}/v2/${id}/health`)).toBe(401);
  const query = await send("POST", graphqlUrl, { headers, json: { query: "{ myself { id } }" } });
  expect(query.status).toBe(401);
});

describe("a cross-site request of a signed-in browser is rejected", () => {
  test("by its Origin, by Sec-Fetch-Site, and without the page's header", async () => {
    const service = await useConsoleService();
    const { serverlessUrl } = service;
    const id = await createEndpoint(service, "nothing:1");
    const own = pageHeaders(serverlessUrl, await openLink(service.consoleUrl));
    const { origin: _origin, ...noOrigin } = own;
    const { "x-serverless-compute-console": _header, ...noHeader } = own;
    const run = async (headers: Record<string, string>): Promise<number> =>
      (await send("POST", `${serverlessUrl}/console/v2/${id}/run`, { headers, json: { input: {} } })).status;
    expect(await run({ ...own, origin: "http://evil.example" })).toBe(403);
    expect(await run({ ...own, origin: serverlessUrl.replace(/\d+$/, "1") })).toBe(403);
    expect(await run({ ...own, origin: "null" })).toBe(403);
    expect(await run(noOrigin)).toBe(403);
    expect(await run(noHeader)).toBe(403);
    for (const site of ["cross-site", "same-site", "none"])
      expect(await run({ ...own, "sec-fetch-site": site }), site).toBe(403);
    const read = async (headers: Record<string, string>): Promise<number> =>
      (await send("GET", `${serverlessUrl}/console/v2/${id}/requests`, { headers })).status;
    expect(await read({ ...own, origin: "http://evil.example" })).toBe(403);
    expect(await read({ ...own, "sec-fetch-site": "same-site" })).toBe(403);
    expect(
      at((await send("GET", `${serverlessUrl}/console/v2/${id}/requests`, { headers: own })).json, "requests"),
    ).toEqual([]);
    expect(await run(own)).toBe(200);
  });

  test("by its Host: requests with another host name are rejected, even for the page", async () => {
    const { serverlessUrl, consoleUrl } = await useConsoleService();
    const { port } = new URL(serverlessUrl);
    const cookie = await openLink(consoleUrl);
    for (const host of [`evil.example:${port}`, "127.0.0.1", `127.0.0.1:${Number(port) - 1}`, `[::1]:${port}`]) {
      const headers = pageHeaders(`http://${host}`, cookie);
      for (const path of ["/", "/console/api/session"])
        expect(await getWithHost(serverlessUrl + path, host, headers), host).toMatchObject({ status: 403 });
    }
    const local = pageHeaders(`http://localhost:${port}`, cookie);
    const accepted = await getWithHost(`${serverlessUrl}/console/api/session`, `localhost:${port}`, local);
    expect(accepted.status).toBe(200);
  });

  const sessions = createConsoleSessions("key", steadyClock(systemClock));
  const session = sessions.start();
  const roots = ["127.0.0.1", "0.0.0.0", "127.0.0.2", "::1", "::", "192.168.7.4", "fd00::4"].flatMap((host) =>
    [80, 7337].map((port) => ({ host, port, root: rootOf(host, port) })),
  );

  test.each(roots)("but not by the Host of the service's own address: $host, port $port", ({ root, port }) => {
    const guard = createConsoleGuard(sessions, () => root);
    const cookie = `serverless-compute-console-${port}=${session}`;
    const check = (host: string): void => {
      const headers = { host, origin: `http://${host}`, cookie, "x-serverless-compute-console": "1" };
      guard.checkHost({ headers });
      guard.checkPage({ headers, method: "POST" });
    };
    const { host } = new URL(root);
    check(host);
    check(new URL(`http://localhost:${port}`).host);
    for (const other of ["192.168.7.5", "evil.example", `${host}1`]) expect(() => check(other)).toThrow("header Host");
  });

  test("no response allows another origin by CORS", async () => {
    const { serverlessUrl } = await useConsoleService();
    const headers = { origin: "http://evil.example", "access-control-request-method": "POST" };
    for (const [method, path] of [
      ["OPTIONS", "/console/api/session"],
      ["GET", "/"],
    ] as const) {
      const { headers: sent } = await send(method, `${serverlessUrl}${path}`, { headers });
      expect([...sent.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  });
});

test("every response has a strict content security policy, and the page has no inline code or style", async () => {
  const { serverlessUrl } = await useConsoleService();
  const page = await send("GET", `${serverlessUrl}/`);
  for (const { headers } of [page, await send("GET", `${serverlessUrl}/console/api/session`)]) {
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(policy).toMatch(/frame-ancestors 'none'/);
    expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cache-control")).toBe("no-store");
  }
  expect(page.text).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]* src="\/console\/[a-z-]+\.mjs")/i);
  expect(page.text).not.toMatch(/(src|href)="(?!\/|#)/);
  const files = [...page.text.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, path]) => String(path));
  expect(files.length).toBeGreaterThan(1);
  for (const file of files) expect((await send("GET", serverlessUrl + file)).status, file).toBe(200);
});

test("no path reaches files outside the page's folder", async () => {
  const { serverlessUrl } = await useConsoleService();
  const { port } = new URL(serverlessUrl);
  const raw = (path: string): Promise<string> =>
    new Promise((resolve, reject) => {
      let text = "";
      const socket = connect(Number(port), "127.0.0.1", () => {
        socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
      });
      socket
        .on("data", (part) => (text += part))
        .on("end", () => resolve(text))
        .on("error", reject);
    });
  const paths = [
    "../sessions.ts",
    "..%2fsessions.ts",
    "%2e%2e%2fpage-files.ts",
    "tsconfig.json",
    ".mjs",
    "a%00.mjs",
    "no-such.mjs",
  ];
  for (const path of paths) expect(await raw(`/console/${path}`), path).toMatch(/^HTTP\/1\.1 (400|404) /);
});

test("--no-console disables page, data and link", async () => {
  const { serverlessUrl, apiKey, consoleUrl } = await useConsoleService({ console: false });
  expect(consoleUrl).toBeUndefined();
  for (const path of ["/", "/console/api/session", "/console/main.mjs"])
    expect((await send("GET", serverlessUrl + path)).status, path).toBe(404);
  expect((await send("POST", `${serverlessUrl}/console/links`, { key: apiKey })).status).toBe(404);
});

test("a session has at most six event streams; others, and new ones after one has ended, are not affected", async () => {
  const { serverlessUrl, apiKey, consoleUrl } = await useConsoleService();
  const first = await openLink(consoleUrl);
  const headers = { authorization: `Bearer ${apiKey}` };
  const second = await openLink(stringAt(await send("POST", `${serverlessUrl}/console/links`, { headers }), "url"));
  const controllers: AbortController[] = [];
  const open = async (cookie: string): Promise<Response> => {
    const controller = new AbortController();
    const { signal } = controller;
    const response = await fetch(`${serverlessUrl}/console/api/events`, {
      headers: pageHeaders(serverlessUrl, cookie),
      signal,
    });
    if (response.ok) controllers.push(controller);
    return response;
  };
  const statusOf = async (cookie: string): Promise<number> => (await open(cookie)).status;
  for (let count = 0; count < 6; count++) expect(await statusOf(first)).toBe(200);
  const rejected = await open(first);
  expect([rejected.status, await rejected.text()]).toEqual([
    429,
    expect.stringContaining("event streams: this session already has 6, the maximum; close a page of the console"),
  ]);
  expect(await statusOf(second)).toBe(200);
  controllers[0]?.abort();
  await expect.poll(() => statusOf(first)).toBe(200);
  for (const controller of controllers) controller.abort();
});
