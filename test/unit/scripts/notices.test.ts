import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { bundledPackages } from "../../../scripts/release/bundle-plugin.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const committed = readFileSync(join(root, "provider", "THIRD-PARTY-NOTICES.txt"), "utf8");

test("the notices contain the version and the complete licence of each package in the plugin's bundles", async () => {
  const packages = await bundledPackages();
  expect(packages).toEqual(
    expect.arrayContaining([expect.stringMatching(/node_modules\/undici$/), "node_modules/zod"]),
  );
  const require = createRequire(join(root, "package.json"));
  for (const folder of packages) {
    const { name, version } = require(`./${folder}/package.json`);
    const [, own = ""] = committed.split(`\n${name} ${version} (`);
    expect(own.split("-".repeat(80))[0], name).toMatch(
      /Permission is hereby granted[\s\S]+WITHOUT WARRANTY OF ANY KIND/,
    );
  }
});
