import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { pendingSteps, prepareWorkspace } from "../../../scripts/workspace.mjs";
import { scratchFolder } from "../../support/folders";
import { writeExecutable } from "./fake-cli";

/** A lockfile with a package and an optional package of that version. */
const locked = (version: string) =>
  JSON.stringify({ packages: { "node_modules/a": { version }, "node_modules/b": { version, optional: true } } });

/** Creates a repository with the three packages, and an `npm` and a compiler that record their calls. */
function repository() {
  const root = scratchFolder();
  const write = (path: string, text = "") => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const calls = () => readFileSync(join(root, "calls"), "utf8").trim().split("\n");
  write("calls");
  write("package-lock.json", locked("1.0.0"));
  write("tsconfig.base.json", "{}");
  write("scripts/release/bundle-plugin.mjs");
  for (const name of ["api", "provider", "service"]) write(`${name}/index.ts`);
  const compiler = `
    const fs = require("node:fs");
    fs.appendFileSync("calls", "tsc " + process.argv.slice(2).join(" ") + "\\n");
    for (const name of ["api", "provider", "service"]) fs.mkdirSync(name + "/dist", { recursive: true });
    if (fs.readFileSync("api/index.ts", "utf8") === "wrong") { console.log("api/index.ts(1,1): wrong"); process.exit(2); }`;
  writeFileSync(join(root, "compiler"), compiler);
  writeExecutable(
    join(root, "npm"),
    'echo "npm $*" >> calls',
    "rm -rf node_modules && mkdir -p node_modules/typescript-native/bin && sleep 0.05",
    "cp compiler node_modules/typescript-native/bin/tsc",
    "if [ -e broken ]; then echo 'npm error code E404' >&2; exit 1; fi",
    "cp package-lock.json node_modules/.package-lock.json",
  );
  const lines: string[] = [];
  const progress = {
    print: (text: string) => void lines.push(text),
    start: (text: string) => {
      lines.push(text);
      return { done: () => {} };
    },
  };
  return { root, write, calls, lines, prepare: () => prepareWorkspace(root, progress, join(root, "npm")) };
}

const install = "npm ci --no-audit --no-fund --no-progress --loglevel=error";

test("a clean clone is installed once and compiled, with lines of progress", async () => {
  const { root, calls, lines, prepare } = repository();
  expect(await pendingSteps(root)).toEqual({ install: true, compile: true });
  await prepare();
  expect(calls()).toEqual([install, "tsc -b"]);
  expect(lines).toEqual(["Installing the npm packages", "Compiling the packages"]);
  expect(await pendingSteps(root)).toEqual({ install: false, compile: false });
  await prepare();
  expect(calls()).toEqual([install, "tsc -b", "tsc -b"]);
});

test("packages that differ from the lockfile, or are missing, are installed again", async () => {
  const { root, calls, prepare, write } = repository();
  await prepare();
  write("package-lock.json", locked("1.0.1"));
  expect(await pendingSteps(root)).toEqual({ install: true, compile: false });
  await prepare();
  rmSync(join(root, "node_modules"), { recursive: true });
  await prepare();
  expect(calls().slice(2)).toEqual([install, "tsc -b", install, "tsc -b"]);
});

test("installed packages that match the lockfile are kept, without optional packages of other platforms", async () => {
  const { calls, prepare, write } = repository();
  write("node_modules/typescript-native/bin/tsc", "");
  write("node_modules/.package-lock.json", JSON.stringify({ packages: { "node_modules/a": { version: "1.0.0" } } }));
  await prepare();
  expect(calls()).toEqual([""]);
});

test("a failed installation prints npm's output and is repeated in the next run", async () => {
  const { root, calls, prepare, write } = repository();
  write("broken");
  await expect(prepare()).rejects.toThrow("The npm packages could not be installed.\nnpm error code E404");
  rmSync(join(root, "broken"));
  await prepare();
  expect(calls()).toEqual([install, install, "tsc -b"]);
});

test("a compiler error is printed in every run until it is fixed", async () => {
  const { prepare, write } = repository();
  write("api/index.ts", "wrong");
  for (const _ of [1, 2]) {
    await expect(prepare()).rejects.toThrow("The packages could not be compiled.\napi/index.ts(1,1): wrong");
  }
  write("api/index.ts", "right");
  await prepare();
});

test("a failed bundle of the plugin is an error", async () => {
  const { prepare, write } = repository();
  write("scripts/release/bundle-plugin.mjs", 'throw new Error("no such entry point")');
  await expect(prepare()).rejects.toThrow(/^The plugin could not be bundled\.\n[\s\S]*no such entry point/);
  write("scripts/release/bundle-plugin.mjs");
  await prepare();
});

test("a missing npm is reported in one line", async () => {
  const { root } = repository();
  const { silentProgress } = await import("../../../scripts/progress.mjs");
  await expect(prepareWorkspace(root, silentProgress, join(root, "absent"))).rejects.toThrow(
    "There is no npm on PATH.",
  );
});

test("two concurrent runs install once", async () => {
  const { calls, prepare } = repository();
  await Promise.all([prepare(), prepare()]);
  expect(calls()).toEqual([install, "tsc -b", "tsc -b"]);
});
