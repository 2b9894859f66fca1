import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDatabase } from "../../../../service/store/database";
import { send } from "../../../support/raw-http";
import { runLine, startService, useFolder } from "./command";

/** Calls `work` while another program has the write lock of a folder's store. */
function whileLocked(folder: string, work: () => void): void {
  const other = `${folder}-other`;
  mkdirSync(other, { mode: 0o700 });
  symlinkSync(join(folder, "service.db"), join(other, "service.db"));
  const database = openDatabase(other);
  database.transaction(() => {
    database.prepare("DELETE FROM templates WHERE id = ''").run();
    work();
  });
  database.close();
}

test("an unwritable store is reported once in the terminal, once in the log, and in each response", async () => {
  const folder = join(await useFolder(), "data");
  const service = await startService(folder);
  const { addresses, apiKey: key, child } = service;
  let terminal = "";
  child.stderr?.on("data", (chunk) => (terminal += chunk));
  const reason = `store is locked: another program uses ${folder}; close that one`;
  const json = { name: "t", imageName: "i", isServerless: true, volumeInGb: 0 };
  whileLocked(folder, () => {
    // The lock is held as long as this turn, so that another process has to send the requests. The key goes by standard input.
    const client = `const key = require("fs").readFileSync(0, "utf8");
      const headers = { authorization: "Bearer " + key, "content-type": "application/json" };
      const post = () => fetch("${addresses.baseUrl}/templates", { method: "POST", headers, body: '${JSON.stringify(json)}' });
      post().then(post).then(async (answer) => console.log(answer.status, (await answer.json()).message));`;
    const { stdout, stderr } = spawnSync(process.execPath, ["-e", client], { input: key, encoding: "utf8" });
    expect(stdout, stderr).toBe(`503 ${reason}\n`);
  });
  const logged = readFileSync(join(folder, "service.log"), "utf8").split(reason).length - 1;
  await expect.poll(() => terminal).toContain(reason);
  expect([terminal, logged]).toEqual([`serverless-compute-local: ${reason}\n`, 1]);
  expect(await send("POST", `${addresses.baseUrl}/templates`, { key, json })).toMatchObject({ status: 200 });
  child.kill("SIGTERM");
  expect(await service.ended).toMatchObject({ code: 0 });
});

test("a start on a full disk names the folder and the cause", async () => {
  const folder = join(await useFolder(), "full");
  mkdirSync(folder, { mode: 0o700 });
  symlinkSync("/dev/full", join(folder, "service.db"));
  expect(await runLine("start", "--port", "0", "--data", folder)).toEqual({
    code: 1,
    out: "",
    err: `serverless-compute-local: disk full: nothing can be written to ${folder}; free some space there`,
  });
});
