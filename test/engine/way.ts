import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createStack } from "../support/pulumi";
import type { Way } from "../ways/way";

/** Dynamic resources: the npm package alone. */
export const dynamicWay: Way = {
  module: "pulumi-serverless-compute",
  createStack,
  provider: (key) =>
    `new pulumi.ProviderResource("pulumi-nodejs", "explicit", { "serverless-compute:apiKey": ${key} })`,
  health: (id) => id,
  upgrade: (stack) =>
    stack.upgrade("pulumi-serverless-compute", async (folder) => {
      const path = join(folder, "package.json");
      const text = await readFile(path, "utf8");
      await writeFile(path, text.replace(/"version": "[^"]*"/, '"version": "99.0.0"'));
    }),
};
