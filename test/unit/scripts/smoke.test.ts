import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, expect, test } from "vitest";
import { serviceDefaults, useSharedService } from "../../support/local-service";
import { at, send } from "../../support/raw-http";
import { startRecordingProxy } from "../../support/recording-proxy";

const { service } = await useSharedService({ ...serviceDefaults, templateRelease: 0 });
const proxy = await startRecordingProxy(service.serverlessUrl);
afterEach(() => proxy.clear());
afterAll(proxy.close);

const script = fileURLToPath(new URL("../../../scripts/smoke/smoke.mjs", import.meta.url));

function start(...args: string[]) {
  const env = { PATH: process.env["PATH"], SERVERLESS_COMPUTE_API_KEY: service.apiKey };
  const child = spawn(process.execPath, [script, "--url", proxy.origin, ...args], { env });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
  const exit = once(child, "close").then(([code]) => ({ code, text }));
  return { child, exit };
}

/** Names of the remaining objects, by list. */
async function objects(): Promise<unknown> {
  const lists = {
    "/serverless": "endpoints",
    "/templates": "templates",
    "/account/secrets": "secrets",
    "/network-volumes": "networkVolumes",
  };
  const remaining = Object.entries(lists).map(async ([path, list]) => {
    const { json } = await send("GET", `${service.serverlessUrl}/v2${path}`, { key: service.apiKey });
    return [list, at(json, list)];
  });
  return Object.fromEntries(await Promise.all(remaining));
}
const nothing = { endpoints: [], templates: [], secrets: [], networkVolumes: [] };
const deletes = (): string[] =>
  proxy.requests.filter(({ method }) => method === "DELETE").map(({ path }) => path.split("/")[2] ?? "");

test("creates, reads, lists and deletes each object, and prints neither the key nor a secret's value", async () => {
  const { code, text } = await start("--target", "local", "--volume").exit;
  expect(text).toContain("passed: all created objects are deleted");
  for (const kind of ["volume", "secret", "template", "endpoint"])
    for (const verb of ["create", "read", "delete"])
      expect(text).toMatch(new RegExp(`^ok +${verb} the ${kind}: 20`, "m"));
  expect(text).not.toContain(service.apiKey);
  expect(text).not.toMatch(/[0-9a-f]{32}/);
  expect(code).toBe(0);
  expect(await objects()).toEqual(nothing);
});

test("names the address and the reason if the service cannot be reached", async () => {
  const closed = await startRecordingProxy(service.serverlessUrl);
  await closed.close();
  const { code, text } = await start("--target", "local", "--url", closed.origin).exit;
  expect(text).toContain(`FAILED  cannot reach ${closed.origin}: connect ECONNREFUSED`);
  expect(code).toBe(1);
});

test("deletes the created objects after Ctrl-C, even an object being created; without --volume there is no volume", async () => {
  proxy.inject({ method: "POST", path: "/v2/serverless" }, { kind: "delayResponse", ms: 300 });
  const { child, exit } = start("--target", "local");
  await expect
    .poll(() => proxy.requests.some(({ method, path }) => method === "POST" && path === "/v2/serverless"))
    .toBe(true);
  child.kill("SIGINT");
  const { code, text } = await exit;
  expect(text).not.toContain("volume");
  expect(text).toContain("stopped: deleting the created objects");
  expect(code).toBe(130);
  expect(deletes()).toEqual(["serverless", "templates", "account"]);
  expect(await objects()).toEqual(nothing);
});

test("finds an object with a lost create response by its name, and retries a failed delete", async () => {
  proxy.inject({ method: "POST", path: "/v2/templates" }, { kind: "dropResponse" });
  proxy.inject({ method: "DELETE", path: /templates/ }, { kind: "status", status: 500 });
  const { code, text } = await start("--target", "local").exit;
  expect(text).toMatch(/^FAILED/m);
  expect(code).toBe(1);
  expect(deletes()).toEqual(["templates", "templates", "account"]);
  expect(await objects()).toEqual(nothing);
});

test("names an object that cannot be deleted", async () => {
  proxy.inject({ method: "DELETE", path: /templates/ }, { kind: "status", status: 403 });
  const { code, text } = await start("--target", "local").exit;
  expect(text).toMatch(/^LEFT {4}template smoke-[0-9a-f]{10}; delete it in the console$/m);
  expect(code).toBe(1);
});

test("requires a target and a key", async () => {
  for (const [flags, fault] of [
    [["--target", "nowhere"], '--target: is "nowhere"; set it to hosted or local, also with --url'],
    [["--url", "http://127.0.0.1:1"], "--target: is missing; set it to hosted or local, also with --url"],
  ] as const)
    expect(await start(...flags).exit).toMatchObject({ code: 2, text: expect.stringContaining(`${fault}\nusage:`) });
});
