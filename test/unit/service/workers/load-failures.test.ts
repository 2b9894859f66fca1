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

/** An error of Node with a code, as its module loader or a function throws it. */
const nodeError = (code: string, message = "not supported"): Error => Object.assign(new Error(message), { code });

/** A syntax error with the first frame of its stack. */
function syntaxError(message: string, frame: string): Error {
  const error = new SyntaxError(message);
  error.stack = `SyntaxError: ${message}\n    at ${frame}\n    at file:///app/handler.ts:1:1`;
  return error;
}

test.each([
  ["handler.ts", [], nodeError("ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX"), true],
  ["handler.ts", [], nodeError("ERR_INVALID_TYPESCRIPT_SYNTAX"), true],
  ["handler.cts", [], nodeError("ERR_UNSUPPORTED_DIR_IMPORT"), true],
  [
    "handler.mts",
    [],
    nodeError("ERR_MODULE_NOT_FOUND", "Cannot find module '/app/part' imported from /app/a.mts"),
    true,
  ],
  ["handler.cts", [], nodeError("MODULE_NOT_FOUND", "Cannot find module './part'"), true],
  ["handler.ts", [], nodeError("ERR_UNKNOWN_FILE_EXTENSION", 'Unknown file extension ".tsx" for /app/a.tsx'), true],
  ["handler.ts", [], new RangeError("no model"), false],
  ["handler.ts", [], nodeError("ERR_MODULE_NOT_FOUND", "Cannot find package 'openai' imported from /app/a.ts"), false],
  ["handler.cts", [], nodeError("MODULE_NOT_FOUND", "Cannot find module 'openai'"), false],
  ["handler.ts", [], nodeError("ERR_INVALID_ARG_TYPE"), false],
  ["handler.ts", [], nodeError("ERR_UNSUPPORTED_ESM_URL_SCHEME"), false],
  ["handler.ts", [], nodeError("ERR_UNKNOWN_FILE_EXTENSION", 'Unknown file extension ".css" for /app/a.css'), false],
  ["handler.ts", ["--import", "file:///tsx"], nodeError("ERR_UNSUPPORTED_DIR_IMPORT"), false],
  ["handler.mjs", [], nodeError("ERR_UNSUPPORTED_DIR_IMPORT"), false],
])("the report of %s with the flags %j and the error %s suggests tsx: %s", (file, nodeFlags, error, isSuggested) => {
  const report = loadFailureReport(error, `/app/${file}`, nodeFlags);
  expect(report?.includes("run npm install tsx in /app")).toBe(isSuggested);
});

test.each([
  ["Invalid or unexpected token", "compileSourceTextModule (node:internal/modules/esm/utils:346:16)", true],
  ["Unexpected token '@'", "wrapSafe (node:internal/modules/cjs/loader:1638:18)", true],
  [
    "does not provide an export named 'T'",
    "ModuleJob._instantiate (node:internal/modules/esm/module_job:226:21)",
    true,
  ],
  ["Expected property name in JSON at position 1", "JSON.parse (<anonymous>)", false],
  ["Invalid regular expression: /(/", "new RegExp (<anonymous>)", false],
  ["no such model", "file:///app/handler.ts:1:9", false],
])(
  "a syntax error in TypeScript without tsx, %s at %s, suggests it in the text that Node prints: %s",
  (message, frame, isSuggested) => {
    const error = syntaxError(message, frame);
    expect(loadFailureReport(error, "/app/handler.ts", [])).toBeUndefined();
    expect(error.stack?.includes("run npm install tsx in /app")).toBe(isSuggested);
  },
);
