// How code blocks in pages are verified, and the table of them.
import { readPages } from "./pages.mjs";

/** @typedef {import("./pages.mjs").Block} Block */

/** Languages whose blocks are checked without a mark. */
const checkedLanguages = /** @type {const} */ ({
  ts: "compiled",
  typescript: "compiled",
  js: "parsed",
  yaml: "parsed",
  json: "parsed",
});

/** Verification methods, in the order of the table. */
export const ways = /** @type {const} */ ([
  "run",
  "compiled",
  "against schema",
  "checked",
  "parsed",
  "not run",
  "unmarked",
]);

/** @typedef {typeof ways[number]} Way */

/**
 * The verification method of a block.
 * @param {Block} block
 * @returns {Way}
 */
export function wayOf({ language, text, mark }) {
  if (mark && mark.kind !== "checked") return mark.kind;
  if (language === "yaml" && isProgram(text)) return "against schema";
  if (mark) return mark.kind;
  return language in checkedLanguages
    ? checkedLanguages[/** @type {keyof typeof checkedLanguages} */ (language)]
    : "unmarked";
}

/**
 * Tests whether a YAML block is a Pulumi program or part of one.
 * @param {string} text
 */
export const isProgram = (text) => /^(resources|variables):$/m.test(text);

/**
 * The page with the table of all blocks and the reasons of those that are not run.
 * @param {string} root
 */
export function codeBlocksPage(root) {
  const blocks = readPages(root)
    .filter(({ path }) => path !== "docs/code-blocks.md")
    .flatMap((page) => page.blocks);
  const paths = [...new Set(blocks.map(({ page }) => page))];
  const shown = ways.filter((way) => way !== "unmarked");
  /** @param {(block: Block) => boolean} isIn */
  const counts = (isIn) =>
    shown.map((way) => blocks.filter((block) => isIn(block) && wayOf(block) === way).length || "");
  const rows = paths.map((path) => [link(path), ...counts(({ page }) => page === path)]);
  const reasons = blocks.flatMap(({ page, mark }) => (mark?.kind === "not run" ? [[link(page), mark.reason]] : []));
  return `# Blocks of code in these pages

Written by \`npm run generate\`; do not edit. Every block in the README, in \`docs\` and in the examples is one of these
([how a block is marked](../CONTRIBUTING.md#code-in-the-pages)):

- **run**: a test takes it from the page, or has the same lines, and runs it;
- **compiled**: a TypeScript program, or part of one, that the compiler checks against the packages;
- **against schema**: a Pulumi program in YAML whose resources, properties and references \`schema.json\` has;
- **checked**: an example of the reference in a language other than YAML. \`schema.json\` has the same, made from one source; tests
  compile it in TypeScript and Go against the generated SDKs, parse it in Python and Java, and have nothing that reads C#;
- **parsed**: data, or a part of a file, that its language reads without an error;
- **not run**: for the reason below.

${tableOf(["page", ...shown], [...rows, ["all", ...counts(() => true)]])}

## Why a block is not run

${tableOf(["page", "reason"], reasons)}
`;
}

/** @param {string} path */
const link = (path) => `[${path}](${path.startsWith("docs/") ? path.slice("docs/".length) : `../${path}`})`;

/** @param {string[]} head @param {(string | number)[][]} rows */
const tableOf = (head, rows) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
