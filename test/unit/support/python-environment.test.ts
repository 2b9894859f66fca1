import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ToolMissing } from "../../../scripts/child.mjs";
import { pythonWith } from "../../support/python-environment";
import { temporaryFolder, writeExecutable } from "../scripts/fake-cli";

/** A `python3` that makes environments whose Python runs `pip`; what setting packages up with it comes to. */
function machine({ check = "exit 0", venv = "", pip = "exit 0" } = {}) {
  const root = temporaryFolder();
  const python = join(root, "python3");
  writeExecutable(
    python,
    `if [ "$1" = -c ]; then ${check}; fi`,
    venv,
    'mkdir -p "$3/bin"',
    `printf '#!/bin/sh\\n${pip}\\n' > "$3/bin/python"`,
    'chmod 755 "$3/bin/python"',
  );
  const folder = join(root, "state", "python");
  const settled = (command = python) =>
    pythonWith(["left-pad==1.0"], folder, command).then(
      (path) => path,
      (error: unknown) => error,
    );
  return { root, folder, settled };
}

test("packages are installed into an environment of their own", async () => {
  const { folder, settled } = machine();
  expect(await settled()).toBe(join(folder, "bin", "python"));
  expect(existsSync(join(folder, "bin", "python"))).toBe(true);
});

test.each([
  ["no Python", undefined, /there is no `\/nowhere\/python3` on PATH/],
  ["a launcher with no version chosen", { check: "exit 127" }, /there is no `.*python3` on PATH/],
  [
    "a Python without ensurepip",
    { check: `echo "ModuleNotFoundError: No module named 'ensurepip'" >&2; exit 1` },
    /there is no module ensurepip in .*apt install python3-venv/,
  ],
])("a tool that is not there is told as missing: %s", async (_what, lack, reason) => {
  const { settled } = machine(lack);
  const error = await (lack ? settled() : settled("/nowhere/python3"));
  expect(error).toBeInstanceOf(ToolMissing);
  expect(String(error)).toMatch(reason);
});

test.each([
  ["Python itself", { check: "echo 'Fatal Python error: init' >&2; exit 1" }, "Fatal Python error: init"],
  ["venv", { venv: "echo 'no space left' >&2; exit 1" }, "no space left"],
  ["pip", { pip: "echo no matching distribution >&2; exit 1" }, "no matching distribution"],
])("a tool that is there and fails is an error of another kind, and leaves nothing: %s", async (_what, fault, told) => {
  const { folder, settled } = machine(fault);
  const error = await settled();
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toBeInstanceOf(ToolMissing);
  expect(String(error)).toContain(told);
  expect(existsSync(folder)).toBe(false);
});
