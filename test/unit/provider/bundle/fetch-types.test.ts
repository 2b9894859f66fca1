import { expect, it } from "vitest";
import * as bundled from "../../../../provider/bundle/fetch-types";

const given = { "Content-Type": "application/json", accept: "*/*" };

it.each([
  ["Node's own", globalThis.Headers],
  ["the bundle's", bundled.Headers],
])("names of headers have no case: %s", (_whose, Headers) => {
  const headers = new Headers(given);
  headers.set("ACCEPT", "text/plain");
  headers.set("x-new", "1");
  expect(["content-type", "Accept", "X-New", "absent"].map((name) => headers.get(name))).toEqual([
    "application/json",
    "text/plain",
    "1",
    null,
  ]);
  expect(["CONTENT-TYPE", "absent"].map((name) => headers.has(name))).toEqual([true, false]);
  expect(new Headers().has("accept")).toBe(false);
});

it.each([
  ["Node's own", globalThis.Response],
  ["the bundle's", bundled.Response],
])("a response says whether it is one of success: %s", async (_whose, Response) => {
  for (const [status, ok] of [
    [200, true],
    [299, true],
    [300, false],
    [500, false],
  ] as const) {
    const response = new Response("a body, ünd more", { status, headers: given });
    expect([response.status, response.ok]).toEqual([status, ok]);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.text()).toBe("a body, ünd more");
  }
});
