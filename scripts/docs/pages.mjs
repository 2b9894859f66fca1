// The checkable parts of pages: code blocks with their marks, headings, links.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A fenced block of code.
 * @typedef {object} Block
 * @property {string} page Path of its page from the root of the repository.
 * @property {number} line Of its fence, from 1.
 * @property {string} language Text after the fence; empty if there is none.
 * @property {string | undefined} file File name in brackets after the language: `[Pulumi.yaml]`.
 * @property {string} text
 * @property {Mark | undefined} mark
 */

/**
 * Mark of a block or of a whole page: how the block is verified.
 * @typedef {{ kind: "run" | "checked", by: string } | { kind: "not run", reason: string }} Mark
 */

/**
 * @typedef {object} Page
 * @property {string} path From the root of the repository.
 * @property {Block[]} blocks
 * @property {Set<string>} anchors Anchors of its headings, in the format of code hosts.
 * @property {{ line: number, target: string }[]} links Links outside code.
 * @property {string[]} faults Malformed marks.
 */

/** Folders with pages: path and whether subfolders are included. */
const folders = /** @type {const} */ ([
  ["", false],
  [".github", true],
  ["api", false],
  ["provider", false],
  ["service", false],
  ["docs", true],
  ["examples", true],
  ["test", true],
]);
const excludedPaths = /(^|\/)(node_modules|dist|venv|sdks|fixtures|CHANGELOG\.md|messages\.md)(\/|$)/;

/**
 * Paths of all pages, in order.
 * @param {string} root
 */
export function pagePaths(root) {
  const existing = folders.filter(([folder]) => existsSync(join(root, folder)));
  const pages = existing.flatMap(([folder, recursive]) => markdownIn(root, folder, recursive));
  return pages.sort();
}

/** @param {string} root @param {string} folder @param {boolean} recursive @returns {string[]} */
function markdownIn(root, folder, recursive) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (excludedPaths.test(path)) return [];
    if (entry.isDirectory()) return recursive ? markdownIn(root, path, true) : [];
    return path.endsWith(".md") ? [path] : [];
  });
}

/**
 * Reads all pages below a folder.
 * @param {string} root
 */
export const readPages = (root) =>
  pagePaths(root).map((path) => parsePage(path, readFileSync(join(root, path), "utf8")));

const comment = /^\s*<!--\s*(.*?)\s*-->\s*$/;

/**
 * Parses a comment as a mark; undefined for an ordinary comment.
 * @param {string} text
 * @returns {{ mark: Mark, wholePage: boolean } | "malformed" | undefined}
 */
function parseMark(text) {
  const [, page, kind, by, reason] =
    /^(page )?(?:(run|checked) by ((?:test|\.ci)\/\S+)|not run: (\S.{7,}))$/.exec(text) ?? [];
  if ((kind === "run" || kind === "checked") && by) return { mark: { kind, by }, wholePage: Boolean(page) };
  if (reason) return { mark: { kind: "not run", reason }, wholePage: Boolean(page) };
  return /^(page )?((not )?run|checked)\b/.test(text) ? "malformed" : undefined;
}

/**
 * Reads one page.
 * @param {string} path
 * @param {string} text
 * @returns {Page}
 */
export function parsePage(path, text) {
  /** @type {Page} */
  const page = { path, blocks: [], anchors: new Set(), links: [], faults: [] };
  /** @type {Mark | undefined} */
  let pageMark;
  /** @type {Mark | undefined} */
  let nextMark;
  /** @type {{ fence: string, lines: string[], block: Block } | undefined} */
  let open;
  text.split("\n").forEach((line, index) => {
    if (open) {
      if (line.trim() === open.fence) {
        open.block.text = `${open.lines.join("\n")}\n`;
        page.blocks.push(open.block);
        open = undefined;
      } else open.lines.push(line);
      return;
    }
    const [, fence, language = "", file] = /^ *(`{3,}|~{3,}) *([\w-]*) *(?:\[([^\]]+)\])?/.exec(line) ?? [];
    if (fence) {
      const block = { page: path, line: index + 1, language, file, text: "", mark: nextMark ?? pageMark };
      open = { fence, lines: [], block };
      nextMark = undefined;
      return;
    }
    const mark = parseMark(comment.exec(line)?.[1] ?? "");
    if (mark === "malformed") page.faults.push(`${path}:${index + 1}: ${line.trim()}`);
    else if (mark?.wholePage) pageMark = mark.mark;
    else if (mark) nextMark = mark.mark;
    else if (line.trim() !== "") {
      if (nextMark) page.faults.push(`${path}:${index}: no block follows the mark`);
      nextMark = undefined;
    }
    readLine(page, line, index + 1);
  });
  if (open) page.faults.push(`${path}:${open.block.line}: the block has no end`);
  return page;
}

/** @param {Page} page @param {string} line @param {number} number */
function readLine(page, line, number) {
  const [, title] = /^#{1,6} (.+?)(?: #+)?$/.exec(line) ?? [];
  if (title) {
    const slug = slugOf(title);
    let anchor = slug;
    for (let count = 1; page.anchors.has(anchor); count += 1) anchor = `${slug}-${count}`;
    page.anchors.add(anchor);
  }
  for (const [, id = ""] of line.matchAll(/<a id="([^"]+)">/g)) page.anchors.add(id);
  // A link's text may be code; its target is never inside code.
  const plainText = line.replace(/`[^`]*`/g, "``");
  for (const [, target = ""] of plainText.matchAll(/\]\(([^)\s]+)\)/g)) page.links.push({ line: number, target });
  for (const [, target = ""] of plainText.matchAll(/^\[[^\]]+\]: (\S+)$/g)) page.links.push({ line: number, target });
}

/**
 * Anchor of a heading, in the format of code hosts: letters, digits, `_` and `-` stay, spaces become `-`.
 * @param {string} title
 */
export const slugOf = (title) =>
  title
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]/g, "")
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");
