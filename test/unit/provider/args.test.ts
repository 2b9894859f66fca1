import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as shapes from "serverless-compute-api/shapes";
import { expect, it } from "vitest";
import { argsText, propertyNamesText } from "../../../scripts/write-args.mjs";

const written = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../provider/${path}`, import.meta.url)), "utf8");

it("provider/args.ts is what the shapes say (npm run build && node scripts/write-args.mjs)", () => {
  expect(written("args.ts")).toBe(argsText(shapes));
});

it("provider/dynamic/property-names.ts is what the shapes say (the same command)", () => {
  expect(written("dynamic/property-names.ts")).toBe(propertyNamesText(shapes));
});
