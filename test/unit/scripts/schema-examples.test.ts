import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { readPages } from "../../../scripts/docs/pages.mjs";
import { typedProgram } from "../../../scripts/generate/schema/examples/typed-program";
import { packageSchema } from "../../../scripts/generate/schema/package-schema";
import { readPublisher } from "../../../scripts/publisher.mjs";
import { type ExampleText, exampleTexts } from "../../support/example-texts";
import { scratchFolder } from "../../support/folders";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const schema = packageSchema("0.1.0", readPublisher());
const texts = exampleTexts(schema);
const inLanguage = (language: string): ExampleText[] => texts.filter((example) => example.language === language);

const folder = scratchFolder(afterAll);

const write = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

/** Writes the examples of a language to files and returns their paths. */
const programs = (language: string, extension: string): string[] => {
  const examples = inLanguage(language);
  expect(examples.length).toBeGreaterThan(10);
  return examples.map(({ text }, index) => write(`${language}-${index}.${extension}`, `${text}\n`));
};

/** Returns true if a checker is on PATH; a checker that fails to start fails the file. */
const exists = (command: string, ...args: string[]): boolean => {
  const { error, status, stderr } = spawnSync(command, args, { input: "", encoding: "utf8" });
  if (status === 0) return true;
  // On macOS, `javac` without Java prints how to install it.
  const isMissing = error ? "code" in error && error.code === "ENOENT" : /Unable to locate a Java Runtime/.test(stderr);
  if (!isMissing) throw new Error(`${command} ${args.join(" ")} failed: ${error?.message ?? stderr}`);
  console.warn(`The syntax of examples is not checked by ${command}: it is not there.`);
  return false;
};

// The checkers are separate processes, which are slow on a loaded machine.
describe("examples in descriptions", { timeout: 60_000 }, () => {
  it("exist for every resource and function, each in six languages", () => {
    const languages = ["typescript", "python", "go", "csharp", "java", "yaml"];
    for (const token of [...Object.keys(schema.resources), ...Object.keys(schema.functions)]) {
      const example = texts.filter((example) => example.token === token).map(({ language }) => language);
      expect(example.length, token).toBeGreaterThan(0);
      expect(example, token).toEqual(Array.from({ length: example.length / 6 }, () => languages).flat());
    }
  });

  it("match the examples of the reference, in every language", () => {
    const pages = readPages(root).filter(({ path }) => dirname(path) === "docs/resources");
    const blocksOn = (title: string) => {
      const page = pages.find(({ anchors }) => [...anchors][0] === title.toLowerCase());
      return page?.blocks.map(({ language, text }) => ({ language, text }));
    };
    const examplesOf = (tokens: string[]) =>
      texts
        .filter(({ token }) => tokens.includes(token))
        .map(({ language, text }) => ({ language, text: `${text}\n` }));
    for (const token of Object.keys(schema.resources))
      expect(blocksOn(token.slice(token.lastIndexOf(":") + 1)), token).toEqual(examplesOf([token]));
    expect(blocksOn("Lookups")).toEqual(examplesOf(Object.keys(schema.functions)));
  });

  it("are wrapped as Pulumi's documentation and SDKs expect", () => {
    for (const { description } of [...Object.values(schema.resources), ...Object.values(schema.functions)])
      expect(description).toMatch(
        /^\S.*\.\n\n\{\{% examples %\}\}\n## Example Usage\n\n(\{\{% example %\}\}\n### .+\n\n[\s\S]+?\n\{\{% \/example %\}\}\n\n)+\{\{% \/examples %\}\}$/,
      );
  });

  it("use only names that the schema contains", () => {
    const vocabulary = { types: schema.types, args: () => ({ size: { type: "integer" } }) };
    const example = (args: object, from = "models") => ({
      title: "A volume",
      steps: [{ variable: "models", member: "NetworkVolume", args: { ...args } }],
      outputs: { size: { variable: from, property: ["size"] } },
    });
    expect(() => typedProgram(example({ size: 1 }), vocabulary)).not.toThrow();
    expect(() => typedProgram(example({ sise: 1 }), vocabulary)).toThrow(
      'the example "A volume" has sise, which NetworkVolume does not',
    );
    expect(() => typedProgram(example({ size: 1 }, "other"), vocabulary)).toThrow(/reads other before there is one/);
  });

  it.skipIf(!exists("python3", "--version"))("in Python parse", () => {
    const check = "import ast, sys\nfor path in sys.argv[1:]: ast.parse(open(path).read(), path)";
    const parse = (paths: string[]) => spawnSync("python3", ["-c", check, ...paths], { encoding: "utf8" });
    expect(parse(programs("python", "py"))).toMatchObject({ status: 0, stderr: "" });
    expect(parse([write("wrong.py", "def go(:\n")]).stderr).toContain("SyntaxError");
  });

  it.skipIf(!exists("gofmt"))("in Go pass gofmt", () => {
    const format = (paths: string[]) => spawnSync("gofmt", ["-d", ...paths], { encoding: "utf8" });
    expect(format(programs("go", "go"))).toMatchObject({ status: 0, stdout: "", stderr: "" });
    expect(format([write("wrong.go", "package main\nfunc main() {\nreturn\n}\n")]).stdout).toContain("+\treturn");
  });

  it.skipIf(!exists("javac", "-version"))("in Java parse", () => {
    // Pulumi's classes are missing, and every program is called App: only the syntax is checked.
    const args = ["-proc:none", "-Xmaxerrs", "1000", "-d", folder, ...programs("java", "java")];
    const { stderr } = spawnSync("javac", args, { encoding: "utf8" });
    const faults = stderr.split("\n").filter((line) => line.includes("error: "));
    expect(faults.length).toBeGreaterThan(0);
    const missing = /does not exist|cannot find symbol|duplicate class|should be declared in a file/;
    expect(faults.filter((line) => !missing.test(line))).toEqual([]);
    const path = write("Wrong.java", "class Wrong { void go() { int a = ; } }");
    const invalid = spawnSync("javac", ["-proc:none", "-d", folder, path], { encoding: "utf8" });
    expect(invalid.stderr).toContain("illegal start of expression");
  });
});
