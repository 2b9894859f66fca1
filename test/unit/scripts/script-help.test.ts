import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { run } from "../../../scripts/child.mjs";

test.each([
  "add/add",
  "generate/sdks",
  "quickstart/quickstart",
  "release/assets",
  "release/executable",
  "release/go-module",
  "release/publish",
  "release/service-image",
])("%s.mjs prints its arguments for --help, and does nothing else", async (name) => {
  const file = fileURLToPath(new URL(`../../../scripts/${name}.mjs`, import.meta.url));
  const { code, stdout, stderr } = await run(process.execPath, [file, "--help"]);
  expect(stdout).toMatch(/^Usage: .+\n( {2}--.+\n)*$/);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});
