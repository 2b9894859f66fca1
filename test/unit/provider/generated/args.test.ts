import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { traitsOf } from "serverless-compute-api/shapes";
import { expect, it } from "vitest";
import { kinds } from "../../../../provider/resources";
import { argsText, propertyNamesText } from "../../../../scripts/generate/args.mjs";

const written = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../../provider/generated/${path}`, import.meta.url)), "utf8");

it("provider/generated/args.ts matches the shapes (npm run build && npm run generate)", () => {
  expect(written("args.ts")).toBe(argsText(kinds, traitsOf));
});

it("provider/generated/property-names.ts matches the shapes (the same command)", () => {
  expect(written("property-names.ts")).toBe(propertyNamesText(kinds));
});
