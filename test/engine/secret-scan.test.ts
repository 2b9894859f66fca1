import { randomBytes } from "node:crypto";
import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createStack } from "../support/pulumi";
import { registerSecret } from "../support/secret-scan";

it("the removal of a stack finds a secret in its output, its state and all of its files except the program", async () => {
  const stack = await createStack({});
  const value = `planted-${randomBytes(9).toString("hex")}`;
  registerSecret(value, "the planted one");
  await stack.writeProgram(`
    const pulumi = require("@pulumi/pulumi");
    exports.open = "${value}";
    exports.hidden = pulumi.secret("${value}");
  `);
  await stack.up();
  await writeFile(join(stack.folder, "log"), Buffer.from(value).toString("base64"));
  await appendFile(join(stack.folder, "program", "Pulumi.dev.yaml"), `# ${value}\n`);
  const result = await stack.remove().then(
    () => "nothing was found",
    (error: Error) => error.message,
  );
  for (const place of [
    "the output of pulumi up",
    "backend/.pulumi/stacks/shop/dev.json",
    "events-2.json",
    "log",
    "program/Pulumi.dev.yaml",
  ])
    expect(result.split("\n")).toContain(`the planted one is in ${place}`);
  expect(result).not.toContain(value);
  expect(result).not.toContain("index.js");
});
