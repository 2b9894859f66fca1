import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import { run } from "../../scripts/child.mjs";
import { describeUnsupportedNode } from "../ways/unsupported-node";
import { dynamicWay } from "./way";

describeUnsupportedNode(dynamicWay);

it("a program that declares resources loads the package, but neither shapes nor clients", async () => {
  const file = join(inject("packed"), "program-start.cjs");
  await writeFile(file, 'require("pulumi-serverless-compute"); console.log(Object.keys(require.cache).join("\\n"));');
  const { code, stdout, stderr } = await run(process.execPath, [file], { timeout: 60_000 });
  expect(code, stderr).toBe(0);
  const loadedModules = stdout.replaceAll("\\", "/").split("\n");
  expect(loadedModules.filter((path) => path.endsWith("serverless-compute-api/dist/shapes/limits.js"))).toHaveLength(1);
  const otherModules =
    /serverless-compute-api\/dist\/(index|transport|shapes\/index)\.js$|\/(zod|undici|graphql|graphql-request)\//;
  expect(loadedModules.filter((path) => otherModules.test(path))).toEqual([]);
});
