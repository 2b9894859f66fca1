import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { openDatabase } from "../../../../service/store/database";
import { createEndpoint } from "../../../support/endpoint";
import { scratchFolder } from "../../../support/folders";
import { pollUntil, send, stringAt } from "../../../support/raw-http";
import { lockStore } from "../store/support/sqlite-file";
import { runLine, startService, useFolder } from "./command";

const top = useFolder();

test("an unwritable store is reported once in the terminal, once in the log, and in each response; its end once", async () => {
  const folder = join(top, "reported");
  const service = await startService(folder);
  const { addresses, apiKey: key, child } = service;
  let terminal = "";
  child.stderr?.on("data", (chunk) => (terminal += chunk));
  const reason = `store is locked: another program uses ${folder}; close that program`;
  const json = { name: "t", imageName: "i", isServerless: true, volumeInGb: 0 };
  const unlock = lockStore(folder);
  const create = () => send("POST", `${addresses.baseUrl}/templates`, { key, json });
  for (let times = 0; times < 2; times++)
    expect(await create()).toMatchObject({ status: 503, json: { message: reason } });
  const statusLine = `It cannot store changes: ${reason}`;
  expect((await runLine("status", "--data", folder)).out).toContain(statusLine);
  expect(JSON.parse((await runLine("status", "--json", "--data", folder)).out)).toMatchObject({ problem: reason });
  const ready = () => send("GET", `${addresses.serverlessUrl}/readyz`, {});
  expect(await ready()).toMatchObject({ status: 503, text: expect.stringContaining(reason) });
  expect((await send("GET", `${addresses.serverlessUrl}/healthz`, {})).status).toBe(200);
  unlock();
  await expect.poll(async () => (await ready()).status).toBe(200);
  const recovered = "the store can be written again";
  await expect.poll(() => terminal).toContain(recovered);
  expect(terminal).toBe([reason, recovered].map((text) => `serverless-compute-local: ${text}\n`).join(""));
  const log = readFileSync(join(folder, "service.log"), "utf8");
  expect([reason, recovered].map((text) => log.split(text).length - 1)).toEqual([1, 1]);
  expect((await runLine("status", "--data", folder)).out).not.toContain("It cannot store changes");
  expect((await create()).status).toBe(200);
  child.kill("SIGTERM");
  expect(await service.ended).toMatchObject({ code: 0 });
});

test("a start on a full disk names the folder and the cause", async () => {
  const folder = scratchFolder();
  symlinkSync("/dev/full", join(folder, "lock"));
  expect(await runLine("start", "--port", "0", "--data", folder)).toEqual({
    code: 1,
    out: "",
    err: `serverless-compute-local: disk full: nothing can be written to ${folder}; free some space there`,
  });
});

/** Makes every file write of a process fail, as on a disk that became read-only. SQLite reports both as SQLITE_IOERR_WRITE. */
const failWrites = (pid: number | undefined): void =>
  void execFileSync("prlimit", [`--pid=${pid}`, "--fsize=0:unlimited"]);

test("a disk that becomes unwritable is reported in each response, in status and in the terminal, and the service can be stopped", async () => {
  const folder = join(top, "unwritable");
  const released = join(top, "released");
  const handler = join(top, "handler.mjs");
  writeFileSync(
    handler,
    `import { existsSync } from "node:fs";
     export default async () => {
       while (!existsSync(${JSON.stringify(released)})) await new Promise((go) => setTimeout(go, 10));
     };`,
  );
  const { addresses, apiKey: key, child, ended } = await startService(folder, "--image", `i=${handler}`);
  const api = (method: string, path: string, json?: object) =>
    send(method, addresses.serverlessUrl + path, { key, ...(json && { json }) });
  const id = await createEndpoint({ url: addresses.serverlessUrl, apiKey: key }, "i");
  const job = stringAt(await api("POST", `/v2/${id}/run`, { input: {} }), "id");
  await pollUntil(
    () => api("GET", `/v2/${id}/status/${job}`),
    ({ json }) => JSON.stringify(json).includes("IN_PROGRESS"),
  );

  failWrites(child.pid);
  const reason = `data folder cannot be written: ${folder} (SQLITE_IOERR_WRITE); check its disk and permissions, and whether it is mounted read-only`;
  expect(await api("POST", "/v1/templates", { name: "u", imageName: "i" })).toMatchObject({
    status: 503,
    json: { message: reason },
  });
  expect(await api("POST", `/v2/${id}/run`, { input: {} })).toMatchObject({ status: 503, json: { error: reason } });
  expect((await api("GET", "/readyz")).status).toBe(503);
  writeFileSync(released, "");
  await expect
    .poll(async () => (await runLine("status", "--data", folder)).out)
    .toContain(`because it could not return a result (${reason}) while it ran a job`);

  // The address file cannot be deleted either.
  rmSync(join(folder, "address"));
  mkdirSync(join(folder, "address"));
  child.kill("SIGTERM");
  const { code, stderr } = await ended;
  expect(stderr).toMatch(/^serverless-compute-local: data folder cannot be written: .*\nStopping: .*\n$/);
  expect(code).toBe(0);
});

test.each([["reset"], ["snapshot", "copy"], ["restore", "source"], ["prune"]])(
  "%s on a full disk names the folder and the cause",
  async (...words) => {
    const [command = "", ...dirs] = words;
    const place = scratchFolder();
    for (const name of ["data", "source"]) {
      openDatabase(join(place, name)).close();
      rmSync(join(place, name, "lock"));
    }
    const folder = join(place, "data");
    symlinkSync("/dev/full", join(folder, "lock"));
    expect(await runLine(command, ...dirs.map((name) => join(place, name)), "--data", folder)).toEqual({
      code: 1,
      out: "",
      err: `serverless-compute-local: disk full: nothing can be written to ${folder}; free some space there`,
    });
  },
);

const usable = join(top, "usable");

/** Commands that create a folder, a file, or read one. */
const commandsOfPath: Record<string, (path: string) => string[]> = {
  start: (path) => ["start", "--port", "0", "--data", path],
  snapshot: (path) => ["snapshot", path, "--data", usable],
  "restore into": (path) => ["restore", usable, "--data", path],
  "restore from": (path) => ["restore", path, "--data", join(top, "restored")],
  init: (path) => ["init", join(path, "handler.mjs")],
  "start with a key file": (path) => ["start", "--port", "0", "--data", usable, "--api-key-file", path],
  "start with a seed file": (path) => ["start", "--port", "0", "--data", usable, "--seed", path],
  manifest: (path) => ["manifest", "--image", "i", "--seed", path],
  key: (path) => ["key", "--data", path],
};

describe.each([
  ["in /proc", "/proc/absent"],
  ["below a folder of /proc", "/proc/absent/data"],
  ["of a device", "/dev/full"],
  ["below a device", "/dev/full/data"],
  ["of a file", "file"],
  ["below a file", "file/data"],
  ["of a dangling link", "dangling"],
  ["below a dangling link", "dangling/data"],
  ["of a link to itself", "loop"],
  ["below a link to itself", "loop/data"],
  ["with a name of 256 characters", "n".repeat(256)],
  ["below a name of 256 characters", `${"n".repeat(256)}/data`],
  ["of 5000 characters", `${"n".repeat(199)}/`.repeat(25)],
])("a path %s", (_title, name) => {
  test.each(Object.entries(commandsOfPath))("is an error of %s with the path and the remedy", async (_name, words) => {
    rmSync(join(top, "restored"), { recursive: true, force: true });
    openDatabase(usable).close();
    writeFileSync(join(top, "file"), "text");
    for (const [target, link] of [
      ["absent/target", "dangling"],
      ["loop", "loop"],
    ] as const) {
      rmSync(join(top, link), { force: true });
      symlinkSync(join(top, target), join(top, link));
    }
    const path = resolve(top, name);
    const { code, out, err } = await runLine(...words(path));
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/^serverless-compute-local: .*[:;] [^\n]+$/);
    expect(err).toContain(path);
    expect(err).not.toMatch(/\b(?:mkdir|open|lstat|stat|unlink|scandir) '/);
  });
});

test("init writes neither file if the handler is a dangling link", async () => {
  const folder = scratchFolder();
  const handler = join(folder, "handler.mjs");
  symlinkSync(join(folder, "absent", "target"), handler);
  expect(await runLine("init", handler)).toEqual({
    code: 1,
    out: "",
    err: `serverless-compute-local: ${handler}: cannot be written (EEXIST); choose another file or folder`,
  });
  expect(readdirSync(folder)).toEqual(["handler.mjs"]);
});
