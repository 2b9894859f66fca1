import { accessSync, constants, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Cli } from "../../../scripts/cli/cli.mjs";
import { findHost } from "../../../scripts/cli/hosts.mjs";
import { scratchFolder } from "../../support/folders";
import { writeCli, writeExecutable } from "./fake-cli";

/** Creates a CLI in its own folder, and a `go` that builds an empty program from a module with an additional file. */
function machine() {
  const root = scratchFolder();
  const cli: Cli = {
    command: join(root, "bin", "pulumi"),
    folder: join(root, "bin"),
    version: "3.250.0",
    source: "cache",
  };
  writeCli(cli.folder);
  const commands = join(root, "module", "python", "cmd");
  mkdirSync(commands, { recursive: true });
  writeFileSync(join(commands, "pulumi-language-python-exec"), "runs programs", { mode: 0o444 });
  const go = join(root, "tools", "go");
  writeExecutable(
    go,
    `echo "$1" >> "${root}/calls"`,
    '[ "$1" = version ] && echo "go version go1.26.0 linux/amd64"',
    `[ "$1 $2" = "version -m" ] && cat "${root}/build-information" 2>/dev/null`,
    `[ "$1" = list ] && echo "${root}/module"`,
    '[ "$1" = build ] || exit 0',
    'while [ "$1" != -o ]; do shift; done',
    `echo '#!/bin/sh' > "$2"; chmod 755 "$2"`,
  );
  const calls = () => readFileSync(join(root, "calls"), "utf8").trim().split("\n");
  return {
    root,
    cli,
    calls,
    /** Places a host next to the CLI, with what `go version -m` prints about its main module. */
    placeHost: (mainModule: string) => {
      writeExecutable(join(cli.folder, "pulumi-language-python"), "echo existing");
      writeFileSync(join(root, "build-information"), `host: go1.26.0\n\tpath\tx\n\tmod\t${mainModule}\n`);
    },
    isBuilt: () => !readFileSync(join(cli.folder, "pulumi-language-python"), "utf8").includes("existing"),
    find: (command = go) => findHost("python", cli, { go: command, env: { PATH: "/bin:/usr/bin" } }),
  };
}

test("a host is built once, together with the file that it requires", async () => {
  const { root, cli, calls, find } = machine();
  const expected = { folder: cli.folder };
  expect(await Promise.all([find(), find()])).toEqual([expected, expected]);
  for (const name of ["pulumi-language-python", "pulumi-language-python-exec"]) {
    accessSync(join(cli.folder, name), constants.X_OK);
  }
  expect(readFileSync(join(cli.folder, "pulumi-language-python-exec"), "utf8")).toBe("runs programs");
  expect(calls().filter((call) => call === "build")).toHaveLength(1);
  expect(readdirSync(root).filter((name) => name.startsWith("."))).toEqual([]);
});

test.each([
  ["is built again if it was built from another version", "github.com/pulumi/pulumi/sdk/v3\tv3.60.0\th1:abc=", true],
  ["is kept if it was built from this version", "github.com/pulumi/pulumi/sdk/v3\tv3.70.0\th1:abc=", false],
  ["of a release is kept", "github.com/pulumi/pulumi/sdk/v3\tv3.250.0\t", false],
  ["of a local build is kept", "github.com/pulumi/pulumi/sdk/v3\t(devel)\t", false],
])("an existing host %s", async (_case, mainModule, isBuilt) => {
  const host = machine();
  host.placeHost(mainModule);
  expect(await host.find()).toEqual({ folder: host.cli.folder });
  expect(host.isBuilt()).toBe(isBuilt);
});

test("an existing host is kept without Go", async () => {
  const { cli, placeHost, find } = machine();
  placeHost("github.com/pulumi/pulumi/sdk/v3\tv3.60.0\th1:abc=");
  expect(await find("/nowhere/go")).toEqual({ folder: cli.folder });
});

test("a failed build is an error, not a fallback", async () => {
  const { root, find } = machine();
  const broken = join(root, "broken", "go");
  writeExecutable(
    broken,
    'if [ "$1" = version ]; then echo "go version go1.26.0 x"; else echo "no space" >&2; exit 1; fi',
  );
  await expect(find(broken)).rejects.toThrow(
    "python cannot be built: `go get` of pulumi-language-python failed: no space",
  );
  writeExecutable(broken, "echo 'segmentation fault' >&2; exit 139");
  await expect(find(broken)).rejects.toThrow("`go version` failed: segmentation fault");
});

test("without Go, the reason is returned", async () => {
  const { find } = machine();
  expect(await find("/nowhere/go")).toEqual({
    reason: expect.stringMatching(/python is missing and cannot be built: there is no/),
  });
});
