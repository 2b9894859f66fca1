import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Cli } from "../../../scripts/cli/cli.mjs";
import { generateSdk, readLanguages, type SdkLanguage, sdkLanguages } from "../../../scripts/generate/sdks.mjs";
import { scratchFolder } from "../../support/folders";
import { writeExecutable } from "./fake-cli";

interface Machine {
  /** True if the CLI's language hosts can generate SDKs; otherwise `complaint` contains the CLI's error. */
  hosts: boolean;
  stderr?: string;
  /** The `go` on PATH: absent, too old, with failing builds or with a failing generator. */
  go?: "good" | "none" | "old" | "fails" | "builds what fails";
}

/** Creates a CLI, a `go` that builds a generator, and a folder for the SDKs. */
function machine({ hosts, stderr = "error: method GeneratePackage not implemented", go = "good" }: Machine) {
  const root = scratchFolder();
  const cli: Cli = {
    command: join(root, "bin", "pulumi"),
    folder: join(root, "bin"),
    version: "3.250.0",
    source: "cache",
  };
  const write = (language: string, source: string) => `mkdir -p "${language}" && echo ${source} > "${language}/made"`;
  writeExecutable(
    cli.command,
    'while [ "$1" != --language ]; do shift; done',
    hosts ? write("$5/$2", "cli") : `echo '${stderr}' >&2; exit 255`,
  );
  writeExecutable(
    join(root, "tools", "go"),
    `echo "$*" >> "${root}/calls"`,
    `[ "$1" = version ] && echo "go version ${go === "old" ? "go1.22.4" : "go1.26.0"} linux/amd64"`,
    '[ "$1" = build ] || exit 0',
    go === "fails" ? "echo 'main.go:7: undefined: bind' >&2; exit 1" : "",
    'while [ "$1" != -o ]; do shift; done',
    go === "builds what fails"
      ? `printf '#!/bin/sh\\necho "panic: no such type" >&2; exit 2\\n' > "$2"`
      : `printf '#!/bin/sh\\nmkdir -p "$2/$3" && echo build > "$2/$3/made"\\n' > "$2"`,
    'chmod 755 "$2"',
  );
  const schema = join(root, "schema.json");
  writeFileSync(schema, JSON.stringify({ language: { go: { importBasePath: "acme.example/sdk" } } }));
  const target = join(root, "sdks");
  return {
    target,
    calls: () => (existsSync(join(root, "calls")) ? readFileSync(join(root, "calls"), "utf8").trim().split("\n") : []),
    kept: () => readdirSync(root).filter((name) => name.startsWith("sdk-codegen") || name.startsWith(".draft")),
    generate: (language: SdkLanguage) =>
      generateSdk(language, { schema, target, cli, go: join(root, go === "none" ? "none" : "tools", "go") }),
  };
}

const readSource = (target: string, language: string): string =>
  readFileSync(join(target, language, "made"), "utf8").trim();

test("the CLI generates if its language hosts can, without Go", async () => {
  const { generate, target, calls } = machine({ hosts: true });
  expect(await generate("nodejs")).toEqual({ folder: join(target, "nodejs"), source: "cli" });
  expect(readSource(target, "nodejs")).toBe("cli");
  expect(calls()).toEqual([]);
});

test("otherwise the published generators generate, and are built once", async () => {
  const { generate, target, calls, kept } = machine({ hosts: false });
  expect(await Promise.all([generate("nodejs"), generate("go")])).toEqual([
    { folder: join(target, "nodejs"), source: "build" },
    { folder: join(target, "go"), source: "build" },
  ]);
  expect([readSource(target, "nodejs"), readSource(target, "go")]).toEqual(["build", "build"]);
  expect(calls().filter((call) => call.startsWith("build"))).toHaveLength(1);
  expect(calls()).toContain("get github.com/pulumi/pulumi/pkg/v3@v3.250.0");
  expect(kept()).toEqual([expect.stringMatching(/^sdk-codegen-[0-9a-f]{12}$/)]);
});

test("the generators for .NET and Java are built from the last modules that contain them", async () => {
  const { generate, target, calls, kept } = machine({ hosts: false });
  await Promise.all([generate("dotnet"), generate("java")]);
  expect([readSource(target, "dotnet"), readSource(target, "java")]).toEqual(["build", "build"]);
  const [get] = calls().filter((call) => call.startsWith("get"));
  expect(get).toMatch(
    /^get github\.com\/pulumi\/pulumi\/pkg\/v3@v3\.130\.1-\S+ github\.com\/pulumi\/pulumi\/sdk\/v3@v3\.130\.1-\S+ /,
  );
  expect(get).toMatch(/ github\.com\/pulumi\/pulumi-java\/pkg\/codegen\/java@v0\.14\.0$/);
  expect(kept()).toHaveLength(1);
});

test("an SDK for Go contains its module name and no file of an earlier SDK", async () => {
  const { generate, target } = machine({ hosts: true });
  await generate("go");
  writeFileSync(join(target, "go", "gone.go"), "");
  await generate("go");
  expect(readdirSync(join(target, "go")).sort()).toEqual(["go.mod", "made"]);
  expect(readFileSync(join(target, "go", "go.mod"), "utf8")).toContain("module acme.example/sdk\n");
});

test.each([
  ["an older host and no Go", { go: "none" }, /there is no .*none/],
  ["no host and no Go", { go: "none", stderr: "error: no language plugin 'x' found" }, /there is no .*none/],
  ["an older host and an older Go", { go: "old" }, /Go 1\.22\.4 is too old/],
] as const)("a missing tool is reported and no file remains: %s", async (_what, missing, reason) => {
  const { generate, target, kept } = machine({ hosts: false, ...missing });
  expect(await generate("nodejs")).toEqual({ reason: expect.stringMatching(reason) });
  expect(existsSync(target)).toBe(false);
  expect(kept()).toEqual([]);
});

test.each([
  ["the build", { go: "fails" }, "`go build` of sdk-codegen-", "undefined: bind"],
  ["the built generator", { go: "builds what fails" }, "panic: no such type", ""],
  ["the CLI, with no Go", { go: "none", stderr: "error: unexpected end of JSON input" }, "gen-sdk", "end of JSON"],
] as const)("an existing generator that fails is an error, not a fallback: %s", async (_what, fault, ...messages) => {
  const { generate, target } = machine({ hosts: false, ...fault });
  const error = await generate("nodejs").catch((error: unknown) => error);
  expect(error).toBeInstanceOf(Error);
  for (const part of ["the SDK for nodejs cannot be generated: ", ...messages]) expect(String(error)).toContain(part);
  expect(existsSync(target)).toBe(false);
});

test.each<[string[], readonly SdkLanguage[]]>([
  [[], sdkLanguages],
  [["nodejs"], ["nodejs"]],
  [
    ["go", "python"],
    ["go", "python"],
  ],
])("the command with the languages %j generates those, and without any all of them", (names, languages) => {
  expect(readLanguages(names)).toEqual(languages);
});

test.each(["typescript", "--help"])("the command rejects %s, with the languages that have an SDK", (name) => {
  expect(() => readLanguages(["go", name])).toThrow(`${name}: is unknown; use nodejs, python, go, dotnet or java`);
});
