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

describe.each(["api", "provider", "service"] as const)("the packed %s", (part) => {
  const tarball = () => inject("tarballs")[["api", "provider", "service"].indexOf(part)] ?? "";

  // Module resolution before Node 12 ignores `exports`, so only the main entry has types there.
  it("has types for CommonJS, ES modules and bundlers at every entry", async () => {
    const attw = await lint(
      ["@arethetypeswrong/cli", "dist", "index.js"],
      tarball(),
      "--profile",
      "node16",
      "--format",
      "json",
    );
    const { analysis, problems } = JSON.parse(attw.stdout);
    expect(attw.code, JSON.stringify(problems)).toBe(0);
    const kinds = ["node16-cjs", "node16-esm", "bundler"];
    for (const [entry, { resolutions }] of Object.entries<{ resolutions: Record<string, { resolution?: object }> }>(
      analysis.entrypoints,
    )) {
      for (const kind of kinds) expect(resolutions[kind]?.resolution, `${entry} by ${kind}`).toBeDefined();
    }
  });

  it("passes publint", async () => {
    const { code, stdout, stderr } = await lint(
      ["publint", "src", "cli.js"],
      "run",
      tarball(),
      "--pack",
      "npm",
      "--strict",
    );
    expect(code, `${stdout}${stderr}`).toBe(0);
    expect(stdout).toContain("All good!");
  });
});
