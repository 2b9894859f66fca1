import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { root, runScript } from "../entry.mjs";
import { contractOperations, differences, openApiOperations } from "./differences.mjs";
import { fields } from "./outline.mjs";

/**
 * Compares the pinned contract of REST v2 with an OpenAPI 3.x file: `node scripts/contract/compare.mjs <openapi file>`.
 * Prints the differences by route. Exit code 1 with differences, 2 without a file.
 */
await runScript(async () => {
  const [file] = process.argv.slice(2);
  if (file === undefined) {
    console.error("usage: node scripts/contract/compare.mjs <openapi file in YAML or JSON>");
    return 2;
  }
  const contract = JSON.parse(readFileSync(join(root, "test/contract/rest-v2.json"), "utf8"));
  // JSON is a subset of YAML.
  const document = parse(readFileSync(file, "utf8"));
  if (fields(document)["openapi"] === undefined)
    throw new Error(`${file}: is not an OpenAPI 3.x file; pass a file with the property \`openapi\``);
  const changes = differences(contractOperations(contract), openApiOperations(document));
  console.log(`Contract: ${contract.revision}`);
  for (const [route, lines] of changes) console.log(`\n${route}\n${lines.map((line) => `  ${line}`).join("\n")}`);
  console.log(`\n${changes.size} routes differ`);
  return changes.size === 0 ? 0 : 1;
});
