import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../entry.mjs";
import { bundledPackages } from "./bundle-plugin.mjs";

/**
 * Text of provider/THIRD-PARTY-NOTICES.txt: full licence texts of the third-party packages in the plugin's bundles.
 * @returns {Promise<string>}
 */
export async function noticesText() {
  const packages = (await bundledPackages()).map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const texts = readdirSync(join(root, folder)).filter((entry) => /^(licen[cs]e|notice)(\.(md|txt))?$/i.test(entry));
    if (texts.length === 0) throw new Error(`${folder} has no licence file: add its text before bundling it`);
    const sections = texts.map((entry) =>
      readFileSync(join(root, folder, entry), "utf8")
        .replaceAll("\r\n", "\n")
        .trim(),
    );
    return `${name} ${version} (${license})\n\n${sections.join("\n\n")}\n`;
  });
  const rule = `\n${"-".repeat(80)}\n\n`;
  const head = "The files in dist whose names begin with plugin have code of these packages in them.\n";
  return [head, ...packages].join(rule);
}
