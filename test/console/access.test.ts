import { afterAll, expect, test } from "vitest";
import { serve } from "../support/loopback";
import { at, send } from "../support/raw-http";
import { resultIs, shows, submit, useConsole } from "./rig";

const rig = await useConsole(afterAll);
const id = await rig.endpoint("greeter");

test("a link opens the console once, and leaves no trace in the address, the history or script-readable cookies", async () => {
  const { serverlessUrl, apiKey } = rig.service;
  const link = await rig.newLink();
  const page = await rig.visit(link);
  await page.getByRole("link", { name: /greeter/ }).waitFor();
  expect(page.url()).toBe(`${serverlessUrl}/`);
  await page.goBack().catch(() => null);
  expect(page.url()).not.toContain("t=");
  await page.goto(serverlessUrl);
  expect(await page.evaluate("document.cookie")).toBe("");
  const [cookie] = await page.context().cookies(`${serverlessUrl}/console/api/session`);
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/console" });
  expect(cookie?.value).not.toContain(apiKey);

  const secondPage = await rig.visit(link);
  await secondPage.getByRole("heading", { name: "This browser has no session" }).waitFor();
  await shows(secondPage, "#main", "npx --no serverless-compute-local open");
  expect(await secondPage.getByRole("link", { name: /greeter/ }).count()).toBe(0);
});

test("a used link leads to a sign-in that says so, and the API key opens a session that the page does not keep", async () => {
  const { serverlessUrl, apiKey } = rig.service;
  const link = await rig.newLink();
  await send("GET", link);
  const page = await rig.visit(link);
  const states: string[] = [];
  await page.exposeFunction("recordState", (text: string) => states.push(text));
  await page.addInitScript(`addEventListener("DOMContentLoaded", () => {
    const state = document.getElementById("connection");
    new MutationObserver(() => recordState(state.textContent)).observe(state, { childList: true });
  })`);
  await page.reload();
  await page.getByRole("heading", { name: "This browser has no session" }).waitFor();
  expect(states).toEqual(["Signed out"]);
  const reason = page.getByText("The link was already used, or has expired.");
  expect(await reason.isVisible()).toBe(true);
  const pageWithoutLink = await rig.visit(serverlessUrl);
  await pageWithoutLink.getByRole("heading", { name: "This browser has no session" }).waitFor();
  expect(await pageWithoutLink.getByText("The link was already used").isVisible()).toBe(false);

  const field = page.getByLabel("API key");
  await field.fill("another-key");
  await page.getByRole("button", { name: "Sign in" }).click();
  await shows(page, ".warning", "This is not the service's API key.");
  expect(await field.inputValue()).toBe("");
  await field.fill(apiKey);
  await field.press("Enter");
  await page.getByRole("link", { name: /greeter/ }).waitFor();
  expect(await page.content()).not.toContain(apiKey);
  const stored = "JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie])";
  expect(await page.evaluate(stored)).not.toContain(apiKey);
  await page.goto(serverlessUrl);
  await page.getByRole("link", { name: /greeter/ }).waitFor();
});

/** Attacks from a page of another origin. Returns the result of each attempt. */
const attempts = (root: string, id: string): string => `(async () => {
  const root = ${JSON.stringify(root)};
  const run = root + "/console/v2/${id}/run";
  const tried = {};
  const attempt = async (name, work) => {
    tried[name] = await Promise.race([
      work().then((result) => "worked: " + result, () => "refused"),
      new Promise((resolve) => setTimeout(resolve, 5000, "no response")),
    ]);
  };
  const post = (headers, mode) => fetch(run, { method: "POST", mode, credentials: "include", headers, body: '{"input":{}}' });
  await attempt("post JSON", async () => (await post({ "content-type": "application/json" }, "cors")).status);
  await attempt("post with the page's header", async () => (await post({ "x-serverless-compute-console": "1" }, "cors")).status);
  await attempt("read", async () => (await fetch(root + "/console/v2/${id}/requests", { credentials: "include" })).status);
  await attempt("read the page", async () => (await fetch(root + "/", { credentials: "include" })).status);
  await attempt("listen", () => new Promise((resolve, reject) => {
    const source = new EventSource(root + "/console/api/events", { withCredentials: true });
    source.onmessage = resolve;
    source.onopen = resolve;
    source.onerror = () => reject(source.close());
  }));
  await attempt("sign in", async () => (await fetch(root + "/console/session", {
    method: "POST", credentials: "include", headers: { authorization: "Bearer guess" },
  })).status);
  await attempt("load code", () => import(root + "/console/main.mjs"));
  await attempt("load an image", () => new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = resolve;
    image.onerror = reject;
    image.src = root + "/console/icon.svg";
  }));
  await post({ "content-type": "text/plain" }, "no-cors").catch(() => undefined);
  for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
    const frame = document.body.appendChild(document.createElement("iframe"));
    frame.name = type.replace(/\\W/g, "");
    const form = document.body.appendChild(document.createElement("form"));
    Object.assign(form, { method: "post", action: run, enctype: type, target: frame.name });
    const field = form.appendChild(document.createElement("input"));
    Object.assign(field, { name: '{"input":{"a":"', value: '"}}' });
    form.submit();
  }
  const frame = document.body.appendChild(document.createElement("iframe"));
  frame.src = root + "/";
  // Neither a form nor a frame reports a refusal.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return tried;
})()`;

// Another port of the same host is the same site, so the browser sends the cookie; another name is another site.
const hosts = ["127.0.0.1", ...(process.env["FULL"] ? ["localhost"] : [])];

test.each(hosts)("a page of another origin (%s) has no access, although the browser has a session", async (host) => {
  const { serverlessUrl, apiKey } = rig.service;
  const page = await rig.open();
  const origin = await serve((_request, response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>stranger</title><body>"),
  );
  await page.goto(origin.replace("127.0.0.1", host));
  expect(await page.evaluate(attempts(serverlessUrl, id))).toEqual({
    "post JSON": "refused",
    "post with the page's header": "refused",
    read: "refused",
    "read the page": "refused",
    listen: "refused",
    "sign in": "refused",
    "load code": "refused",
    "load an image": "refused",
  });
  const texts = await Promise.all(page.frames().map((frame) => frame.content().catch(() => "")));
  expect(texts.join("")).not.toContain("Serverless Compute");
  const jobs = await send("GET", `${serverlessUrl}/v2/${id}/requests`, { key: apiKey });
  expect(at(jobs.json, "requests")).toEqual([]);
  // The session itself is still valid.
  await page.goto(serverlessUrl);
  await page.getByRole("link", { name: /greeter/ }).waitFor();
});

test("the console survives a restart of the service: the page reconnects in the same session", async () => {
  const page = await rig.open(`#/endpoints/${id}`);
  await submit(page, { name: "before", say: "said before" });
  await resultIs(page, "COMPLETED");
  await rig.restart(() => page.getByText("Reconnecting…").waitFor());
  await page.getByText("Live", { exact: true }).waitFor();
  await submit(page, { name: "after", say: "said after" });
  await resultIs(page, "COMPLETED");
  await shows(page, "#result pre", "Hello, after!");
  await shows(page, ".log p", "said after");
  expect(await page.locator(".log p").filter({ hasText: "said before" }).count(), "lines are not duplicated").toBe(1);
});
