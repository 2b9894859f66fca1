/**
 * Checks the mechanical rules of the English in pages, comments, messages and the schema (CONTRIBUTING.md, "Terms"). Prints every
 * finding; exit code 1 with findings.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMain, root, runScript } from "../entry.mjs";

/** @typedef {{ line: number, rule: string, text: string }} Finding */

const maxWords = 35;

/** Rules for phrases in pages and comments. */
const phrases = [
  {
    rule: "use returns, reports, requires, contains",
    pattern: /\b(tells|says|answers|asks|knows|is told|told of)\b/gi,
  },
  {
    rule: "use is not, or name the thing",
    pattern: /(?<!\bthere )\bis no\b(?! (longer|more|less|fewer|later|earlier)\b)/gi,
  },
  { rule: "name the role, or use the passive", pattern: /\b(some|no)body\b/gi },
];
const clauseFirst = /^\/\*\*[\s*]*(What|Whether|Those|That which|One (?:that|who)|Who|Whoever|Whatever|Where|Which)\b/;

/** Generated files and the check's own test texts. */
const ignored =
  /(^|\/)(fixtures|node_modules)\/|^provider\/generated\/(args|property-names)\.ts$|\/english(\.test)?\.m?[jt]s$/;

/**
 * Finds breaches in one file.
 * @param {string} path
 * @param {string} text
 * @returns {Finding[]}
 */
export function findingsIn(path, text) {
  const page = path.endsWith(".md") || path === "schema.json";
  const passages = path === "schema.json" ? descriptionsOf(text) : page ? proseOf(text) : commentsOf(text);
  if (!page && !path.startsWith("test/")) passages.push(...messagesOf(text));
  return passages.flatMap((passage) => [
    ...phrases.flatMap(({ rule, pattern }) => [...passage.text.matchAll(pattern)].map(() => ({ ...passage, rule }))),
    ...(page
      ? longSentences(passage.text).map((sentence) => ({
          line: passage.line,
          rule: `over ${maxWords} words`,
          text: sentence,
        }))
      : clauseFirst.test(passage.text)
        ? [{ ...passage, rule: "begin a doc comment with a noun or verb" }]
        : []),
  ]);
}

/** @param {string} text @returns {string[]} */
const longSentences = (text) =>
  text
    .split(/(?<=[.!?:][)"”]*)\s+/)
    .filter((sentence) => sentence.split(/\s+/).filter((word) => /\w/.test(word)).length > maxWords);

/**
 * Paragraphs, list items and table cells of a page, without code and link targets.
 * @param {string} text
 */
function proseOf(text) {
  const blank = (/** @type {string} */ match) => match.replace(/[^\n]/g, "");
  const lines = text
    .replace(/^---\n[\s\S]*?\n---\n/, blank)
    .replace(/^( *)(```+)[\s\S]*?^\1\2 *$/gm, blank)
    .replace(/<!--[\s\S]*?-->/g, blank)
    .replace(/`[^`]+`/g, (match) => `code${blank(match)}`)
    .replace(/\]\([^)]*\)/g, "]")
    .split("\n");
  /** @type {{ line: number, text: string }[]} */
  const findings = [];
  let isInBlock = false;
  for (const [index, line] of lines.entries()) {
    const last = findings.at(-1);
    const starts = /^\s*([-*>#|]|\d+\.)(\s|$)/.test(line);
    if (line.startsWith("|")) findings.push(...line.split("|").map((cell) => ({ line: index + 1, text: cell.trim() })));
    else if (last && isInBlock && !starts && line.trim() !== "") last.text += ` ${line.trim()}`;
    else if (line.trim() !== "") findings.push({ line: index + 1, text: line.trim() });
    isInBlock = line.trim() !== "" && !line.startsWith("|");
  }
  return findings;
}

/**
 * Comments of a program, without code spans. A `//` counts at the start of a line or after a space only, so that
 * addresses are not comments.
 * @param {string} text
 */
function commentsOf(text) {
  return [...text.matchAll(/\/\*\*?[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g)].map((match) => ({
    line: text.slice(0, match.index).split("\n").length,
    text: match[0].replace(/`[^`]+`/g, "code"),
  }));
}

/**
 * String literals of a program that are sentences: four words or more.
 * @param {string} text
 */
function messagesOf(text) {
  const code = text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g, (comment) => comment.replace(/[^\n]/g, ""));
  return [...code.matchAll(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g)]
    .filter(([literal]) => literal.split(/\s+/).length > 3)
    .map(({ 0: literal, index }) => ({ line: code.slice(0, index).split("\n").length, text: literal }));
}

/**
 * The prose of all descriptions of the schema.
 * @param {string} text
 */
const descriptionsOf = (text) =>
  [...text.matchAll(/"description": ("(?:[^"\\]|\\.)*")/g)].flatMap(({ 1: json = '""', index }) => {
    const line = text.slice(0, index).split("\n").length;
    return proseOf(JSON.parse(json)).map((passage) => ({ ...passage, line }));
  });

async function main() {
  const files = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0");
  const checked = files.filter(
    (path) => /\.(md|[cm]?[jt]sx?)$|^schema\.json$/.test(path) && !ignored.test(path) && existsSync(join(root, path)),
  );
  const lines = checked.flatMap((path) =>
    findingsIn(path, readFileSync(join(root, path), "utf8")).map(
      ({ line, rule, text }) => `${path}:${line}: ${rule}: ${text.replace(/\s+/g, " ").slice(0, 200)}`,
    ),
  );
  for (const line of lines) console.log(line);
  return lines.length === 0 ? 0 : 1;
}

if (isMain(import.meta.url)) await runScript(main);
