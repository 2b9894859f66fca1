import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import { run } from "../../scripts/child.mjs";
import { unsupportedNodeThrough } from "../ways/unsupported-node";
import { dynamicWay } from "./way";

unsupportedNodeThrough(dynamicWay);

it("a program that declares resources loads the package, but neither shapes nor a client", async () => {
  const file = join(inject("packed"), "program-start.cjs");
  await writeFile(file, 'require("pulumi-serverless-compute"); console.log(Object.keys(require.cache).join("\\n"));');
  const { code, stdout, stderr } = await run(process.execPath, [file], { timeout: 60_000 });
  expect(code, stderr).toBe(0);
  const loaded = stdout.replaceAll("\\", "/").split("\n");
  expect(loaded.filter((path) => path.endsWith("serverless-compute-api/dist/shapes/limits.js"))).toHaveLength(1);
  const others =
    /serverless-compute-api\/dist\/(index|transport|shapes\/index)\.js$|\/(zod|undici|graphql|graphql-request)\//;
  expect(loaded.filter((path) => others.test(path))).toEqual([]);
});
