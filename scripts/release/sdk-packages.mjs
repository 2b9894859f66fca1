import { copyFile, cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lastLines, run } from "../child.mjs";
import { root } from "../entry.mjs";

/**
 * Adds registry metadata and the licence to a generated SDK.
 * @param {string} folder Folder of the SDK.
 * @param {string} language
 */
export async function completeSdk(folder, language) {
  await copyFile(join(root, "LICENSE"), join(folder, "LICENSE"));
  // Its pyproject.toml names this file; the generator writes it into the module.
  if (language === "python") {
    await copyFile(join(folder, "pulumi_serverless_compute", "README.md"), join(folder, "README.md"));
  }
}

/**
 * Compiles and packs the generated Node SDK as an npm package, without its install script and the compiler that the
 * script requires.
 * @param {string} sdk Folder of the generated SDK.
 * @param {string} target Folder for the package.
 * @returns {Promise<string>} File name of the package.
 */
export async function packNodeSdk(sdk, target) {
  const draft = await mkdtemp(join(tmpdir(), "node-sdk-"));
  try {
    await cp(sdk, draft, { recursive: true });
    await completeSdk(draft, "nodejs");
    await symlink(join(root, "node_modules"), join(draft, "node_modules"));
    const tsc = join(root, "node_modules", "typescript-native", "bin", "tsc");
    // The package does not contain the sources of source maps.
    const compiled = await run(process.execPath, [
      tsc,
      "-p",
      draft,
      "--sourceMap",
      "false",
      "--declarationMap",
      "false",
    ]);
    if (compiled.code !== 0) throw new Error(`the SDK for nodejs does not compile: ${lastLines(compiled)}`);

    const generated = JSON.parse(await readFile(join(draft, "package.json"), "utf8"));
    const { name, version, description, keywords, homepage, repository, license, pulumi, dependencies } = generated;
    const manifest = {
      name,
      version,
      description,
      keywords,
      homepage,
      repository,
      license,
      type: "commonjs",
      main: "bin/index.js",
      types: "bin/index.d.ts",
      files: ["bin"],
      publishConfig: { access: "public" },
      dependencies: { "@pulumi/pulumi": dependencies["@pulumi/pulumi"] },
      pulumi,
    };
    const text = `${JSON.stringify(manifest, null, 2)}\n`;
    await writeFile(join(draft, "package.json"), text);
    // The compiled files read their version from this folder.
    await writeFile(join(draft, "bin", "package.json"), text);
    await rm(join(draft, "node_modules"));
    const packed = await run("npm", ["pack", draft, "--silent", "--ignore-scripts", "--pack-destination", target]);
    if (packed.code !== 0) throw new Error(`the SDK for nodejs could not be packed: ${lastLines(packed)}`);
    return packed.stdout.trim();
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
