import { cp, readdir, symlink } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { run } from "../../scripts/child.mjs";
import { lifecycleIn } from "./support/language-life";
import { repository, sdkFor } from "./support/sdk";

const sdk = await sdkFor("nodejs");

describe.skipIf("reason" in sdk)("a program in TypeScript with the generated SDK", () => {
  let program: string;

  /** Installs the SDK named in the example's package.json as `npm install` does: a link, and the SDK's install script. */
  const install = async (folder: string): Promise<void> => {
    program = folder;
    const copy = join(folder, "sdks", "nodejs");
    if ("folder" in sdk) await cp(sdk.folder, copy, { recursive: true });
    await symlink(copy, join(folder, "node_modules", "pulumi-serverless-compute-sdk"));
    const { PATH = "" } = process.env;
    const env = { ...process.env, PATH: `${join(repository, "node_modules", ".bin")}${delimiter}${PATH}` };
    const { code, stdout, stderr } = await run(process.execPath, ["scripts/postinstall.js"], { cwd: copy, env });
    expect(code, `${stdout}${stderr}`).toBe(0);
  };

  lifecycleIn({
    example: "typescript-plugin",
    install,
    // Compiled below, once.
    environment: { PULUMI_NODEJS_TRANSPILE_ONLY: "true" },
  });

  it("has types that pass the strict compiler", async () => {
    expect(await readdir(join(program, "sdks", "nodejs", "bin"))).toContain("index.d.ts");
    const compiler = join(repository, "node_modules", "typescript", "bin", "tsc");
    const { code, stdout } = await run(process.execPath, [compiler, "-p", program]);
    expect(code, stdout).toBe(0);
  });
});
