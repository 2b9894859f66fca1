import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { type Block, type Page, parsePage, readPages, slugOf } from "../scripts/docs/pages.mjs";
import { readPublisher } from "../scripts/publisher.mjs";
import { programFaults } from "./support/program-check";
import { workflowFaults } from "./support/workflow-check";

const root = fileURLToPath(new URL("..", import.meta.url));
const pages = readPages(root);
const blocks = pages.flatMap((page) => page.blocks);
const schema = JSON.parse(readFileSync(join(root, "schema.json"), "utf8"));
/** Languages whose blocks are checked without a mark. */
const checkedLanguages = ["ts", "typescript", "js", "yaml", "json"];
const isUnmarked = ({ language, mark }: Block): boolean => mark === undefined && !checkedLanguages.includes(language);
const at = ({ page, line }: Block): string => `${page}:${line}`;

/** Faults of a block's "run by" mark: the test must exist, and read the page or contain the block's lines. */
function runFaults(block: Block): string[] {
  if (block.mark === undefined || block.mark.kind === "not run") return [];
  const { by } = block.mark;
  if (!existsSync(join(root, by))) return [`${at(block)}: there is no ${by}`];
  const test = readFileSync(join(root, by), "utf8");
  if (test.includes(`"${block.page}"`) || test.includes(`"${dirname(block.page)}"`)) return [];
  const lines = block.text.split("\n").map((line) => line.replace(/\s+#.*$/, "").trim());
  const missingPaths = lines.filter((line) => line !== "" && !line.startsWith("#") && !test.includes(line));
  return missingPaths.map((line) => `${at(block)}: ${by} neither reads the page nor has the line: ${line}`);
}

/** Syntax and schema faults of a block of JSON or YAML. */
function textFaults(block: Block): string[] {
  const { language, text } = block;
  try {
    if (language === "json") JSON.parse(text);
  } catch (error) {
    return [`${at(block)}: ${error}`];
  }
  const faults: string[] = [];
  if (language === "yaml") {
    const documents = parseAllDocuments(text);
    faults.push(...[...documents].flatMap(({ errors }) => errors.map(({ message }) => message)));
    if (/^(resources|variables):$/m.test(text)) faults.push(...programFaults(text, schema));
    faults.push(...workflowFaults(text));
  }
  return faults.map((fault) => `${at(block)}: ${fault}`);
}

/** Links to missing files, folders or headings. Addresses of other hosts are not checked. */
function linkFaults(page: Page, all: Page[], exists: (path: string) => boolean): string[] {
  return page.links.flatMap(({ line, target }) => {
    if (/^(https:|mailto:)/.test(target)) return [];
    const [file = "", anchor] = target.split("#");
    const path = file === "" ? page.path : posix.normalize(posix.join(posix.dirname(page.path), file));
    const where = `${page.path}:${line}: ${target}`;
    if (/^\w+:/.test(target) || path.startsWith("..")) return [`${where} is no address of a page`];
    if (!exists(path)) return [`${where}: there is no ${path}`];
    const isInSite = page.path.startsWith("docs/") && path.startsWith("docs/");
    if (isInSite && posix.extname(path) === "") return [`${where} is a folder, which has no page on the site`];
    const linked = all.find((target) => target.path === path);
    return anchor === undefined || linked?.anchors.has(anchor) ? [] : [`${where}: ${path} has no heading ${anchor}`];
  });
}

describe("the pages", () => {
  test("are all found", () => {
    expect(pages.map(({ path }) => path)).toEqual(
      expect.arrayContaining(["README.md", "CONTRIBUTING.md", "docs/service.md", "examples/quickstart/README.md"]),
    );
    expect(blocks.length).toBeGreaterThan(40);
  });

  test("contain no unmarked code block (CONTRIBUTING, Code in the pages)", () => {
    expect(blocks.filter(isUnmarked).map(at)).toEqual([]);
    expect(pages.flatMap(({ faults }) => faults)).toEqual([]);
  });

  test("name, for each block that a test runs, a test that reads the page or contains the same lines", () => {
    expect(blocks.flatMap(runFaults)).toEqual([]);
  });

  test("contain JSON and YAML that can be parsed, and YAML programs that match the schema", () => {
    expect(blocks.flatMap(textFaults)).toEqual([]);
  });

  test("install none of our packages from a registry before they are published", () => {
    const fetching =
      /(npm (i|install)|npx (-y|--yes)|pip install|go get)\b.* (pulumi-serverless-compute|serverless-compute-(api|local)|pulumi_serverless_compute)\b/;
    const lines = pages.flatMap(({ path }) => readFileSync(join(root, path), "utf8").split("\n"));
    expect(readPublisher(root).repository === null ? lines.filter((line) => fetching.test(line)) : []).toEqual([]);
  });

  test.each(["README.md", ...["typescript", "yaml", "python", "go"].map((name) => `docs/start/${name}.md`)])(
    "%s has at most 45 lines of text and code up to its first deployment",
    (path) => {
      const lines = readFileSync(join(root, path), "utf8").split("\n");
      const end = lines.indexOf("pulumi up");
      expect(end).toBeGreaterThan(0);
      expect(lines.slice(0, end + 1).filter((line) => line !== "" && !/^(<!--|```)/.test(line)).length).toBeLessThan(
        46,
      );
    },
  );

  test("have fewer than 70,000 words, without the table of the conformance tests", () => {
    const read = pages.filter(({ path }) => path.startsWith("docs/") || path === "README.md");
    const counted = read.filter(({ path }) => path !== "docs/conformance.md");
    const words = counted.flatMap(({ path }) => readFileSync(join(root, path), "utf8").trim().split(/\s+/));
    expect(words.length).toBeGreaterThan(10_000);
    expect(words.length).toBeLessThan(70_000);
  });

  test("begin no line with an element, such as a wrapped `<name>`, which the site would render", () => {
    const site = pages.filter(({ path }) => path.startsWith("docs/"));
    const lines = site.flatMap(({ path }) => {
      const prose = readFileSync(join(root, path), "utf8").replaceAll(/^```[\s\S]*?^```$/gm, "");
      return prose.split("\n").map((line) => `${path}: ${line}`);
    });
    expect(lines.length).toBeGreaterThan(1000);
    expect(lines.filter((line) => /^\S+: {1,4}<(?!\/?(details|summary)>|!--)/.test(line))).toEqual([]);
  });

  test("link to existing files and headings", () => {
    const exists = (path: string): boolean => {
      const full = join(root, path);
      return existsSync(full) && (statSync(full).isFile() || !path.endsWith(".md"));
    };
    expect(pages.flatMap(({ links }) => links).length).toBeGreaterThan(100);
    expect(pages.flatMap((page) => linkFaults(page, pages, exists))).toEqual([]);
  });
});

test("commands name our packages with npx --no, so that npx never downloads a package of that name", () => {
  const unmarked = /npx (?!--no )(--?\S+ )*(pulumi-)?serverless-compute/;
  const ignored = /(^|\/)(node_modules|dist)\//;
  const inFolders = ["api", "provider", "scripts", "service"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path}`),
  );
  const sources = inFolders.filter((path) => /\.(ts|mjs|html)$/.test(path) && !ignored.test(path));
  const paths = [...sources, ...pages.map(({ path }) => path)];
  expect(paths).toContain("service/console/page/main.mjs");
  expect(unmarked.test("npx serverless-compute recover")).toBe(true);
  expect(paths.filter((path) => unmarked.test(readFileSync(join(root, path), "utf8")))).toEqual([]);
});

describe("the checks find", () => {
  const page = (...lines: string[]): Page => parsePage("docs/page.md", lines.join("\n"));
  const [first] = pages;

  test("a command without a mark, a mark without a block, an unknown mark, and an unclosed block", () => {
    const [block] = page("```sh", "pulumi up", "```").blocks;
    expect(block && isUnmarked(block)).toBe(true);
    expect(page("<!-- not run: it has no end -->", "Words.").faults).toEqual([
      "docs/page.md:1: no block follows the mark",
    ]);
    expect(page("<!-- not run -->", "```sh", "pulumi up", "```").faults).toHaveLength(1);
    expect(page("<!-- run by nobody -->").faults).toHaveLength(1);
    expect(page("```sh", "pulumi up").faults).toEqual(["docs/page.md:1: the block has no end"]);
  });

  test("the mark of a block before the page's", () => {
    const marks = page(
      "<!-- page run by test/a.test.ts -->",
      "```sh",
      "a",
      "```",
      "<!-- not run: it asks a person -->",
      "```sh",
      "b",
      "```",
      "```yaml [Pulumi.yaml]",
      "name: c",
      "```",
    ).blocks;
    expect(marks.map(({ mark }) => mark?.kind)).toEqual(["run", "not run", "run"]);
    expect(marks[2]?.file).toBe("Pulumi.yaml");
  });

  test("a missing test, and a test that does not use the block", () => {
    const faults = (by: string) =>
      page(`<!-- run by ${by} -->`, "```sh", "frobnicate --all", "```").blocks.flatMap(runFaults);
    expect(faults("test/nowhere.test.ts")).toEqual(["docs/page.md:2: there is no test/nowhere.test.ts"]);
    expect(faults("test/schema.test.ts").join()).toContain("has the line: frobnicate --all");
  });

  test("invalid data, a program that the schema rejects, and a workflow step without an action", () => {
    const faults = (language: string, text: string) =>
      page(`\`\`\`${language}`, text, "```").blocks.flatMap(textFaults).join("\n");
    expect(faults("json", "{")).toContain("docs/page.md:1");
    expect(faults("yaml", "a: [")).toContain("docs/page.md:1");
    const program = (type: string, properties: string, outputs = "") =>
      faults(
        "yaml",
        `resources:\n  a:\n    type: serverless-compute:${type}\n    properties: ${properties}\n${outputs}`,
      );
    expect(program("Secret", "{ value: v }")).toBe("");
    expect(program("Secret", "{ valu: v }")).toMatch(/has no property valu\n.*lacks value/);
    expect(program("Sekret", "{}")).toContain("is no type of the schema");
    expect(program("Secret", "{ value: v }", `outputs: { x: "\${b.reference}" }`)).toContain(`\${b} refers to nothing`);
    expect(
      faults("yaml", "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - name: nothing\n"),
    ).toContain("does nothing");
  });

  test("a link to a missing file or heading", () => {
    const links = [
      "[a](nowhere.md)",
      "[b](#nothing)",
      "[c](#a-title)",
      "[d](../README.md#nothing)",
      "[e](../../x.md)",
      "[f](guides)",
    ];
    const linkPage = page("# A `title`!", ...links);
    const foundLinks = linkFaults(
      linkPage,
      [linkPage, ...(first ? pages : [])],
      (path) => existsSync(join(root, path)) || path === linkPage.path,
    );
    expect(foundLinks.map((fault) => fault.split(": ")[0])).toEqual(
      [2, 3, 5, 6, 7].map((line) => `docs/page.md:${line}`),
    );
    expect(slugOf("REST v2: objects made by 'GraphQL' (`a_b`)")).toBe("rest-v2-objects-made-by-graphql-a_b");
  });
});
