import { spawnSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { resolveCommand } from "../../../../service/workers/runtimes/process/image-command";
import { loadFailureReport } from "../../../../service/workers/runtimes/process/load-failure";
import { scratchFolder } from "../../../support/folders";
import { useLocalService } from "../../../support/local-service";
import { shortTimings } from "./support/programs";

/** Handler files that fail to load, with the faulty file and line, the text above the caret, and the error. */
const failures = [
  {
    name: "a syntax error",
    files: { "handler.mjs": "const one = 1;\nexport default () => one +* 2;\n" },
    at: "handler.mjs:2",
    caretAt: "* 2",
    error: "SyntaxError: Unexpected token '*'",
  },
  {
    name: "a syntax error in an imported file",
    files: { "handler.mjs": 'import "./part.mjs";\nexport default () => 1;\n', "part.mjs": "\n\tlet a = ];\n" },
    at: "part.mjs:2",
    caretAt: "];",
    error: "SyntaxError: Unexpected token ']'",
  },
  {
    name: "a syntax error in CommonJS",
    files: { "handler.cjs": "module.exports = () => { return ( };\n" },
    at: "handler.cjs:1",
    caretAt: "};",
    error: "SyntaxError: Unexpected token '}'",
  },
  {
    name: "a syntax error in TypeScript",
    files: { "handler.ts": "export default (job: object) => job.(;\n" },
    at: "handler.ts:1",
    caretAt: "(;",
    error: "Error: Transform failed with 1 error:",
  },
  {
    name: "an import of a file that does not exist",
    files: { "handler.mjs": 'import "node:fs";\nimport a from "./images/resize.mjs";\nexport default () => a;\n' },
    at: "handler.mjs:2",
    caretAt: "./images",
    error: "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '",
  },
  {
    name: "an import of a package that is not installed",
    files: { "handler.mts": 'import a from "@acme/not-installed/part";\nexport default () => a;\n' },
    at: "handler.mts:1",
    caretAt: "@acme",
    error: "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@acme/not",
  },
  {
    name: "a require of a file that does not exist",
    files: { "handler.cjs": 'const a = require("./gone");\nmodule.exports = () => a;\n' },
    at: "handler.cjs:1",
    caretAt: "./gone",
    error: "Error: Cannot find module './gone'",
  },
  {
    name: "an import of a name that does not exist",
    files: { "handler.mjs": 'import { raedFile } from "node:fs";\nexport default () => raedFile;\n' },
    at: "handler.mjs:1",
    caretAt: "raedFile",
    error: "SyntaxError: The requested module 'node:fs' does not",
  },
  {
    name: "an error in a package",
    files: { "handler.mjs": 'import fc from "fast-check";\nexport default fc.integer({ min: 2, max: 1 });\n' },
    at: "handler.mjs:2",
    caretAt: "integer",
    error: "Error: fc.integer ",
  },
  {
    name: "an error while CommonJS is loaded",
    files: { "handler.cjs": 'module.exports = () => 1;\nthrow new RangeError("no model");\n' },
    at: "handler.cjs:2",
    caretAt: "new RangeError",
    error: "RangeError: no model",
  },
  {
    name: "an error while it is loaded",
    files: { "handler.mjs": 'export default () => 1;\nthrow new RangeError("no model");\n' },
    at: "handler.mjs:2",
    caretAt: "new RangeError",
    error: "RangeError: no model",
  },
];

/** Writes the files of a handler; returns the path of the first file. */
function handlerOf(files: Record<string, string>): string {
  const folder = scratchFolder();
  // For tsx.
  symlinkSync(join(__dirname, "../../../../node_modules"), join(folder, "node_modules"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return join(folder, Object.keys(files)[0] ?? "");
}

test.each(failures)(
  "a worker reports file, line, caret and error of a handler with $name",
  ({ files, at, caretAt, error }) => {
    const command = resolveCommand({ broken: `"${handlerOf(files)}"` }, "broken", "");
    if ("error" in command) throw new Error(command.error);
    const { stderr, status } = spawnSync(command.file, command.args, { encoding: "utf8", env: {} });
    expect(status).toBe(1);
    expect(stderr).toContain(error);
    const [, source = "", caret = ""] = new RegExp(`${at}\n(.*)\n([ \t]*)\\^`).exec(stderr) ?? [];
    expect(source.slice(caret.length).startsWith(caretAt), stderr).toBe(true);
    expect(stderr).not.toMatch(/at .*(?:node:internal|node-host|node_modules)/);
  },
);

test("the report is in the worker's log, the job's error and /health, whose first line contains the error", async () => {
  const handler = handlerOf({ "handler.mjs": 'import a from "not-installed";\nexport default () => a;\n' });
  const rig = await useLocalService({ images: { broken: handler }, timings: shortTimings });
  const jobs = await rig.jobsOn("broken");
  const { status, error } = await jobs.reaches(await jobs.submit({}));
  expect(status).toBe("FAILED");
  const { message = "" } = await jobs.health();
  const log = (await rig.workerLog(jobs.id)).replace(/^\S+Z local-\w+ /gm, "");
  for (const text of [error, message, log])
    expect(text).toContain('handler.mjs:1\nimport a from "not-installed";\n               ^\n');
  expect(message.split("\n")[0]).toContain("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'not-installed'");
});

/** An error of Node with a code, as thrown by its module loader. */
const nodeError = (code: string): Error => Object.assign(new Error("not supported"), { code });

test.each([
  ["handler.ts", [], nodeError("ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX"), true],
  ["handler.mts", [], nodeError("ERR_MODULE_NOT_FOUND"), true],
  ["handler.cts", [], nodeError("ERR_UNSUPPORTED_DIR_IMPORT"), true],
  ["handler.ts", [], new RangeError("no model"), false],
  ["handler.ts", ["--import", "file:///tsx"], nodeError("ERR_MODULE_NOT_FOUND"), false],
  ["handler.mjs", [], nodeError("ERR_MODULE_NOT_FOUND"), false],
])("the report of %s with the flags %j and the error %s suggests tsx: %s", (file, nodeFlags, error, isSuggested) => {
  const report = loadFailureReport(error, `/app/${file}`, nodeFlags);
  expect(report?.includes("run npm install tsx in /app")).toBe(isSuggested);
});

test("a syntax error in TypeScript without tsx suggests it in the text that Node prints", () => {
  const error = new SyntaxError("Invalid or unexpected token");
  expect(loadFailureReport(error, "/app/handler.ts", [])).toBeUndefined();
  expect(error.stack).toContain("run npm install tsx in /app");
});
