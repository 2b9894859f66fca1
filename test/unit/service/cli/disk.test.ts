import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
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

test("a data folder that cannot be created is an error with its path and the remedy", async () => {
  const file = join(top, "file");
  writeFileSync(file, "");
  const start = async (folder: string) => (await runLine("start", "--port", "0", "--data", folder)).err;
  for (const folder of [file, join(file, "below")])
    expect(await start(folder)).toBe(
      `serverless-compute-local: the data folder ${folder}: is a file or below a file; choose a folder with --data`,
    );
  // Node reports ENOENT, as for a folder below a read-only folder.
  symlinkSync(join(top, "absent", "target"), join(top, "link"));
  const folder = join(top, "link", "data");
  expect(await start(folder)).toBe(
    `serverless-compute-local: the data folder ${folder}: cannot be created (ENOENT); make the parent folder writable, or choose another folder with --data`,
  );
});
