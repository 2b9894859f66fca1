import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { argsText, propertyNamesText } from "../../../../scripts/generate/schema/args";

it.each([
  ["args.ts", argsText],
  ["property-names.ts", propertyNamesText],
])("provider/generated/%s matches the shapes (npm run build && npm run generate)", (name, text) => {
  const path = fileURLToPath(new URL(`../../../../provider/generated/${name}`, import.meta.url));
  expect(readFileSync(path, "utf8")).toBe(text());
});
