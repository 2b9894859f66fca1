import { readFileSync } from "node:fs";
import { dirname, extname, isAbsolute } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { codeOf } from "../../../errors";
import { typescriptExtensions } from "../../handler-files";

/** A position in a source file; line and column start at 1. */
interface SourcePosition {
  file: string;
  line: number;
  column: number;
}

/** Stack frames of Node, packages and the worker program. */
const foreignFrame = /^\s+at .*(?:\bnode:|[\\/]node_modules[\\/]|[\\/]node-host\.[jt]s|<anonymous>\)?$)/;

/** Code and message of the errors of Node's loader that tsx avoids. */
const avoidedByTsx = [
  /^ERR_(?:UNSUPPORTED|INVALID)_TYPESCRIPT_SYNTAX /,
  /^ERR_UNSUPPORTED_DIR_IMPORT /,
  /^ERR_UNKNOWN_FILE_EXTENSION .*"\.tsx"/,
  /^(?:ERR_)?MODULE_NOT_FOUND Cannot find module '[./]/,
];

/** The remedy for TypeScript that Node itself cannot run, such as an enum; empty for any other error, and if tsx is loaded. */
function tsxHint(error: Error, handler: string, nodeFlags: readonly string[]): string {
  if (!typescriptExtensions.includes(extname(handler)) || nodeFlags.includes("--import")) return "";
  const [innermostFrame = ""] = /^\s+at .*/m.exec(error.stack ?? "") ?? [];
  // A function such as JSON.parse throws syntax errors, too.
  const isOfLoader = error instanceof SyntaxError && innermostFrame.includes("(node:");
  if (!isOfLoader && !avoidedByTsx.some((rule) => rule.test(`${codeOf(error)} ${error.message}`))) return "";
  return `\n\nNode runs this file without tsx, which also supports enums, decorators and imports without an extension; run npm install tsx in ${dirname(handler)}`;
}

/**
 * Returns the report of a handler file that failed to load: file, line and caret, then the error without foreign stack frames. Returns
 * undefined for a syntax error whose position only Node has; Node prints it if the error is not caught. `nodeFlags` are those of this process.
 */
export function loadFailureReport(error: unknown, handler: string, nodeFlags: readonly string[]): string | undefined {
  if (!(error instanceof Error)) return `the handler file threw ${inspect(error)}`;
  const lines = (error.stack ?? `${error.name}: ${error.message}`).split("\n");
  error.stack = lines.filter((line) => !foreignFrame.test(line)).join("\n") + tsxHint(error, handler, nodeFlags);
  if (error instanceof SyntaxError) {
    // For some syntax errors, Node has already added the excerpt to the stack.
    if (!error.stack.startsWith(error.name)) return error.stack;
    // Node prints errors without a stack frame in brackets.
    error.stack += `\n    at handler (${handler})`;
    return undefined;
  }
  const position = positionInMessage(error.message) ?? importPosition(error.message) ?? firstFramePosition(error.stack);
  return excerptOf(position) + (error.cause === undefined ? error.stack : inspect(error));
}

/** The position in an error message of esbuild, whose columns start at 0. */
function positionInMessage(message: string): SourcePosition | undefined {
  const [, file, line, column] = /^(.+):(\d+):(\d+): ERROR: /m.exec(message) ?? [];
  return file === undefined ? undefined : { file, line: Number(line), column: Number(column) + 1 };
}

/** The position of an import of a missing module; Node names the importing file, but not the line. */
function importPosition(message: string): SourcePosition | undefined {
  const [, file] = /(?:imported from |^Require stack:\n- )(.+)$/m.exec(message) ?? [];
  const quoted = [...message.matchAll(/['"]([^'"]+)['"]/g)].map(([, text]) => text);
  for (const [index, text] of linesOf(file).entries()) {
    for (const found of text.matchAll(/\b(?:from|import|require)\s*\(?\s*(["'])([^"']+)\1/g)) {
      const [statement, , specifier = ""] = found;
      if (![specifier, packageOf(specifier), pathOf(specifier, file)].some((name) => quoted.includes(name))) continue;
      const column = found.index + statement.lastIndexOf(specifier) + 1;
      return { file: file ?? "", line: index + 1, column };
    }
  }
  return undefined;
}

/** The package name of a specifier, such as "@scope/name" for "@scope/name/part". */
const packageOf = (specifier: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;

function pathOf(specifier: string, importer = ""): string {
  try {
    return fileURLToPath(new URL(specifier, pathToFileURL(importer)));
  } catch {
    return specifier;
  }
}

/** The innermost remaining stack frame. */
function firstFramePosition(stack: string): SourcePosition | undefined {
  const [, location = "", line, column] = /^\s+at (?:.*\()?(.+?):(\d+):(\d+)\)?$/m.exec(stack) ?? [];
  const file = location.startsWith("file:") ? fileURLToPath(location) : location;
  return isAbsolute(file) ? { file, line: Number(line), column: Number(column) } : undefined;
}

function linesOf(file: string | undefined): string[] {
  try {
    return file === undefined ? [] : readFileSync(file, "utf8").split(/\r?\n/);
  } catch {
    return [];
  }
}

/** File, line and caret in Node's format, followed by an empty line; empty if the source cannot be read. */
function excerptOf(position: SourcePosition | undefined): string {
  const text = position && linesOf(position.file)[position.line - 1];
  if (position === undefined || text === undefined) return "";
  const { file, line, column } = position;
  // Tabs are kept, so that the caret is below its character.
  const indent = text.slice(0, column - 1).replace(/[^\t]/g, " ");
  return `${file}:${line}\n${text}\n${indent}^\n\n`;
}
