import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { type Finished, run } from "../../scripts/child.mjs";
import { repository } from "../plugin/support/sdk";

/** Runs a package linter by its command line, its only stable interface. */
const lint = (command: string[], ...args: string[]): Promise<Finished> => {
  const [name = "", ...path] = command;
  return run(process.execPath, [join(repository, "node_modules", ...name.split("/"), ...path), ...args], {
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0" },
  });
};

describe.concurrent.each(["api", "provider", "service"] as const)("the packed %s", (part) => {
  const tarball = () => inject("tarballs")[["api", "provider", "service"].indexOf(part)] ?? "";

  // Resolution `node` ignores `exports`, and finds the types by `typesVersions`.
  it("has types for CommonJS, ES modules, bundlers and resolution `node` at every entry", async () => {
    const { code, stdout } = await lint(["@arethetypeswrong/cli", "dist", "index.js"], tarball());
    expect(code, stdout).toBe(0);
  });

  it("passes publint", async () => {
    const args = ["run", tarball(), "--pack", "npm", "--strict"];
    const { code, stdout, stderr } = await lint(["publint", "src", "cli.js"], ...args);
    expect(code, `${stdout}${stderr}`).toBe(0);
    expect(stdout).toContain("All good!");
  });
});
