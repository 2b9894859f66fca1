import { spawnSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { watchSources } from "../../../../service/workers/source-watch";
import { createEndpoint } from "../../../support/endpoint";
import { scratchFolder } from "../../../support/folders";
import { at, pollUntil, send, stringAt } from "../../../support/raw-http";
import { useConsoleService } from "../console/support/console-rig";
import { program, scratchFile } from "./support/programs";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

describe("--watch reports", () => {
  function watched() {
    const folder = scratchFolder();
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
    const onSave = (changed: string, sources: string[]): void =>
      void reports.push([relative(changed), sources.map(relative).sort()]);
    const watch = watchSources({ images, onSave, onNotice: (text) => expect.unreachable(text) });
    onTestFinished(() => watch.close());
    return { path, write, reports };
  }

  test("a handler file with changed content, once for a save in several writes", async () => {
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

  test.each<[string, (folder: string) => void]>([
    ["deleted", (folder) => rmSync(folder, { recursive: true })],
    ["moved", (folder) => renameSync(folder, scratchFile("old"))],
  ])("files in a handler's folder that was %s and created again", async (_how, remove) => {
    const { path, write, reports } = watched();
    remove(path(""));
    write("one.mjs", "2");
    await expect.poll(() => reports).toEqual([["one.mjs", ["one.mjs"]]]);
    write("lib/part.mjs", "3");
    await expect.poll(() => reports.slice(1)).toEqual([["lib/part.mjs", ["one.mjs", "other.mjs"]]]);
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

test.each([
  [999, []],
  [
    1000,
    [expect.stringMatching(/^--watch: limit of 1000 folders reached; changes in .*below.* do not restart workers$/)],
  ],
])("a handler's folder and 999 folders below it are watched: %i folders below it", (count, expected) => {
  const handler = join(scratchFolder(), "handler.mjs");
  for (let index = 0; index < count; index++) mkdirSync(join(dirname(handler), `below${index}`));
  const notices: string[] = [];
  const onNotice = (text: string): void => void notices.push(text);
  watchSources({ images: { handler }, onSave: () => undefined, onNotice }).close();
  expect(notices).toEqual(expected);
});

test("a folder that the system cannot watch is reported once, with the limit to raise", () => {
  const handler = join(scratchFolder(), "handler.mjs");
  mkdirSync(join(dirname(handler), "below"));
  writeFileSync(handler, "1");
  const loader = pathToFileURL(join(root, "node_modules/tsx/dist/loader.mjs")).href;
  const watcher = [process.execPath, "--import", loader, program("watch-without-files.ts"), handler];
  const { stdout, stderr } = spawnSync("prlimit", ["--nofile=128", ...watcher], {
    env: { PATH: process.env["PATH"], TSX_TSCONFIG_PATH: join(root, "test/unit/service/cli/source-paths.json") },
    encoding: "utf8",
  });
  const remedy = "raise the system's limit, such as fs.inotify.max_user_watches, and start the service again";
  expect({ stdout, stderr }).toEqual({
    stdout: `--watch: ${dirname(handler)}: cannot be watched (EMFILE); ${remedy}\n`,
    stderr: "",
  });
});

test("start --watch: workers finish their job when their handler is saved, the next job runs the new version, and fails while that does not load", async () => {
  const folder = scratchFolder();
  const file = join(folder, "handler.mjs");
  const endFile = join(folder, "until");
  const handler = (version: number): string => `import { existsSync } from "node:fs";
    import { setTimeout } from "node:timers/promises";
    export default async ({ input }) => {
      while (input.until && !existsSync(input.until)) await setTimeout(10);
      return { version: ${version} };
    };`;
  writeFileSync(file, handler(1));
  const service = await useConsoleService({ images: { "acme/versions": file }, watch: true, logLevel: "info" });
  const { apiKey: key, serverlessUrl, dataFolder } = service;
  const id = await createEndpoint(service, "acme/versions:1");
  const jobs = `${serverlessUrl}/v2/${id}`;
  const run = async (input: object) => stringAt(await send("POST", `${jobs}/run`, { key, json: { input } }), "id");
  const end = async (job: string) => (await send("GET", `${jobs}/status-sync/${job}?wait=30000`, { key })).json;
  const log = (path: string) => readFile(join(dataFolder, path), "utf8");
  const why = `${file} was saved: its workers restart after their jobs`;
  const reported = async () => (await log(`logs/${id}.log`)).split(why).length - 1;

  const long = await run({ until: endFile });
  await pollUntil(
    () => send("GET", `${jobs}/status/${long}`, { key }),
    ({ json }) => at(json, "status") === "IN_PROGRESS",
  );
  writeFileSync(file, handler(2));
  await expect.poll(reported).toBe(1);
  expect(await log("service.log")).toContain(why);
  const next = await run({});
  writeFileSync(endFile, "");
  expect(await end(long), "the job that ran during the save").toMatchObject({ output: { version: 1 } });
  expect(await end(next), "the next job").toMatchObject({ output: { version: 2 } });
  expect(await end(next)).not.toHaveProperty("retries");

  writeFileSync(file, "export default () => { retrun 1 };");
  await expect.poll(reported).toBe(2);
  expect(await end(await run({}))).toMatchObject({ status: "FAILED", error: expect.stringContaining("SyntaxError") });
  writeFileSync(file, handler(3));
  await expect.poll(reported).toBe(3);
  expect(await end(await run({}))).toMatchObject({ status: "COMPLETED", output: { version: 3 } });
});
