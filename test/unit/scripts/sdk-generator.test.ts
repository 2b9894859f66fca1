import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { Cli } from "../../../scripts/cli.mjs";
import { generateSdk } from "../../../scripts/sdk-generator.mjs";
import { temporaryFolder, writeExecutable } from "./fake-cli";

// These start processes, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 30_000 });

/** A CLI whose language hosts can generate, or cannot; a `go` that builds a generator; where the SDKs go. */
function machine({ hosts, go = true }: { hosts: boolean; go?: boolean }) {
  const root = temporaryFolder();
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
    hosts ? write("$5/$2", "cli") : "echo 'error: method GeneratePackage not implemented' >&2; exit 255",
  );
  writeExecutable(
    join(root, "tools", "go"),
    `echo "$*" >> "${root}/calls"`,
    '[ "$1" = version ] && echo "go version go1.26.0 linux/amd64"',
    '[ "$1" = build ] || exit 0',
    'while [ "$1" != -o ]; do shift; done',
    `printf '#!/bin/sh\\nmkdir -p "$2/$3" && echo build > "$2/$3/made"\\n' > "$2"`,
    'chmod 755 "$2"',
  );
  const schema = join(root, "schema.json");
  writeFileSync(schema, JSON.stringify({ language: { go: { importBasePath: "acme.example/sdk" } } }));
  const target = join(root, "sdks");
  return {
    target,
    calls: () => (existsSync(join(root, "calls")) ? readFileSync(join(root, "calls"), "utf8").trim().split("\n") : []),
    kept: () => readdirSync(root).filter((name) => name.startsWith("sdk-codegen") || name.startsWith(".draft")),
    generate: (language: "nodejs" | "go") =>
      generateSdk(language, { schema, target, cli, go: go ? join(root, "tools", "go") : join(root, "none") }),
  };
}

const made = (target: string, language: string): string => readFileSync(join(target, language, "made"), "utf8").trim();

test("the CLI generates where its language hosts can, and no Go is needed", async () => {
  const { generate, target, calls } = machine({ hosts: true });
  expect(await generate("nodejs")).toEqual({ folder: join(target, "nodejs"), source: "cli" });
  expect(made(target, "nodejs")).toBe("cli");
  expect(calls()).toEqual([]);
});

test("else the published generators do, which are built once", async () => {
  const { generate, target, calls, kept } = machine({ hosts: false });
  expect(await Promise.all([generate("nodejs"), generate("go")])).toEqual([
    { folder: join(target, "nodejs"), source: "build" },
    { folder: join(target, "go"), source: "build" },
  ]);
  expect([made(target, "nodejs"), made(target, "go")]).toEqual(["build", "build"]);
  expect(calls().filter((call) => call.startsWith("build"))).toHaveLength(1);
  expect(calls()).toContain("get github.com/pulumi/pulumi/pkg/v3@v3.250.0");
  expect(kept()).toEqual([expect.stringMatching(/^sdk-codegen-[0-9a-f]{12}$/)]);
});

test("an SDK for Go says what module it is, and nothing of an earlier one is left", async () => {
  const { generate, target } = machine({ hosts: true });
  await generate("go");
  writeFileSync(join(target, "go", "gone.go"), "");
  await generate("go");
  expect(readdirSync(join(target, "go")).sort()).toEqual(["go.mod", "made"]);
  expect(readFileSync(join(target, "go", "go.mod"), "utf8")).toContain("module acme.example/sdk\n");
});

test("where neither works the reason is told and nothing is left", async () => {
  const { generate, target, kept } = machine({ hosts: false, go: false });
  expect(await generate("nodejs")).toEqual({
    reason: expect.stringMatching(/nodejs cannot be generated: there is no .*none/),
  });
  expect(existsSync(target)).toBe(false);
  expect(kept()).toEqual([]);
});
