import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { watchSources } from "../../../../service/workers/source-watch";
import { askUntil, at, send, stringAt } from "../../../support/raw-http";
import { makeEndpoint, useConsoleService } from "../console/support/console-rig";

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), "handlers-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe("--watch reports", () => {
  function watched() {
    const folder = folderOf();
    const path = (name: string): string => join(folder, name);
    const write = (name: string, text: string): void => {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), text);
    };
    for (const name of ["one.mjs", "other.mjs", "py/handler.py", "lib/part.ts", "node_modules/a/index.js"])
      write(name, "1");
    write(".venv/pyvenv.cfg", "");
    write("env/pyvenv.cfg", "");
    const reports: [string, string[]][] = [];
    const images = {
      one: path("one.mjs"),
      other: `node ${path("other.mjs")}`,
      python: `python3 -u ${path("py/handler.py")}`,
      command: "node -p 1",
      gone: "/nowhere/x.mjs",
    };
    const relative = (file: string): string => file.slice(folder.length + 1);
    const saved = (changed: string, sources: string[]): void =>
      void reports.push([relative(changed), sources.map(relative).sort()]);
    const watch = watchSources({ images, saved, onNotice: (text) => expect.unreachable(text) });
    onTestFinished(() => watch.close());
    return { path, write, reports };
  }

  test("a handler file with changed content, once for a save in several steps", async () => {
    const { path, write, reports } = watched();
    write("one.mjs", "");
    write("one.mjs", "2");
    await expect.poll(() => reports).toEqual([["one.mjs", ["one.mjs"]]]);
    write("other.mjs.tmp", "2");
    renameSync(path("other.mjs.tmp"), path("other.mjs"));
    await expect.poll(() => reports.slice(1)).toEqual([["other.mjs", ["other.mjs"]]]);
  });

  test("a Python program, and files that it may import", async () => {
    const { write, reports } = watched();
    write("py/handler.py", "2");
    await expect.poll(() => reports).toEqual([["py/handler.py", ["py/handler.py"]]]);
    write("py/model.py", "1");
    const all = ["one.mjs", "other.mjs", "py/handler.py"];
    await expect.poll(() => reports.slice(1)).toEqual([["py/model.py", all]]);
  });

  test("imported files in folders below the handler's, for every handler above them", async () => {
    const { write, reports } = watched();
    write("lib/part.ts", "2");
    await expect.poll(() => reports).toEqual([["lib/part.ts", ["one.mjs", "other.mjs"]]]);
  });

  test("files in folders that were created or replaced later", async () => {
    const { path, write, reports } = watched();
    write("new/deep/part.mjs", "1");
    await expect.poll(() => reports.map(([changed]) => changed)).toEqual(["new/deep/part.mjs"]);
    rmSync(path("new"), { recursive: true });
    write("new/deep/part.mjs", "2");
    await expect.poll(() => reports.length).toBe(2);
    write("new/deep/part.mjs", "3");
    await expect.poll(() => reports.length).toBe(3);
  });

  test("no unchanged file, no data file, and nothing in packages and virtual environments", async () => {
    const { write, reports } = watched();
    write("one.mjs", "1");
    write("result.json", "1");
    for (const name of ["node_modules/a/index.js", ".venv/lib/a.py", "env/a.py", "py/__pycache__/a.py"])
      write(name, "2");
    write("other.mjs", "2");
    await expect.poll(() => reports).toEqual([["other.mjs", ["other.mjs"]]]);
  });
});

test("start --watch: workers finish their job when their handler is saved, the next one runs the new version, and the logs report it", async () => {
  const file = join(folderOf(), "handler.mjs");
  const until = join(folderOf(), "until");
  const handler = (version: number): string => `import { existsSync } from "node:fs";
    import { setTimeout } from "node:timers/promises";
    export default async ({ input }) => {
      while (input.until && !existsSync(input.until)) await setTimeout(10);
      return { version: ${version} };
    };`;
  writeFileSync(file, handler(1));
  const service = await useConsoleService({ images: { "acme/versions": file }, watch: true, logLevel: "info" });
  const { apiKey: key, serverlessUrl, dataFolder } = service;
  const id = await makeEndpoint(service, "acme/versions:1");
  const jobs = `${serverlessUrl}/v2/${id}`;
  const run = async (input: object) => stringAt(await send("POST", `${jobs}/run`, { key, json: { input } }), "id");
  const record = (job: string) => send("GET", `${jobs}/status-sync/${job}?wait=30000`, { key });
  const long = await run({ until });
  await askUntil(
    () => send("GET", `${jobs}/status/${long}`, { key }),
    ({ json }) => at(json, "status") === "IN_PROGRESS",
  );
  writeFileSync(file, handler(2));
  const log = (path: string) => readFile(join(dataFolder, path), "utf8");
  const why = `${file} was saved: its workers restart after their jobs`;
  await expect.poll(() => log(`logs/${id}.log`)).toContain(why);
  expect(await log("service.log")).toContain(why);
  const next = await run({});
  writeFileSync(until, "");
  expect(at((await record(long)).json, "output", "version"), "the job that ran meanwhile").toBe(1);
  expect(at((await record(next)).json, "output", "version"), "the next job").toBe(2);
  expect(at((await record(next)).json, "retries")).toBeUndefined();
});

test("start --watch: a saved handler that does not load fails the next jobs, until it is corrected", async () => {
  const file = join(folderOf(), "handler.mjs");
  const handler = (version: number): string => `export default () => ({ version: ${version} });`;
  writeFileSync(file, handler(1));
  const service = await useConsoleService({ images: { "acme/versions": file }, watch: true });
  const { apiKey: key, serverlessUrl, dataFolder } = service;
  const id = await makeEndpoint(service, "acme/versions:1");
  const runsync = async () =>
    (await send("POST", `${serverlessUrl}/v2/${id}/runsync`, { key, json: { input: {} } })).json;
  const log = () => readFile(join(dataFolder, `logs/${id}.log`), "utf8");
  expect(await runsync()).toMatchObject({ status: "COMPLETED" });
  writeFileSync(file, "export default () => { retrun 1 };");
  await expect.poll(log).toContain("was saved");
  expect(await runsync()).toMatchObject({ status: "FAILED", error: expect.stringContaining("SyntaxError") });
  writeFileSync(file, handler(2));
  await expect.poll(async () => (await log()).match(/was saved/g)).toHaveLength(2);
  expect(await runsync()).toMatchObject({ status: "COMPLETED", output: { version: 2 } });
});
