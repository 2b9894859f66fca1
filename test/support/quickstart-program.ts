import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect } from "vitest";

const file = fileURLToPath(new URL("../../examples/quickstart/index.ts", import.meta.url));

/** The quickstart's program as JavaScript, with another image. */
export async function quickstartOn(image: string): Promise<string> {
  const text = await readFile(file, "utf8");
  expect(text).toContain('imageName: "acme/greeter:1"');
  const module = ts.ModuleKind.CommonJS;
  return ts.transpileModule(text.replace("acme/greeter:1", image), { compilerOptions: { module } }).outputText;
}
