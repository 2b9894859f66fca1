// Writes what is made from the shapes: schema.json and docs/resources.md. `--check` only says whether they are current.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { reference } from "./reference.mjs";

const require = createRequire(import.meta.url);
const { packageSchema } = require("../provider/dist/schema/package-schema.js");
const { version } = require("../provider/package.json");

const schema = packageSchema(version);
const files = {
  "schema.json": `${JSON.stringify(schema, null, 2)}\n`,
  "docs/resources.md": reference(schema),
};

for (const [name, text] of Object.entries(files)) {
  const path = fileURLToPath(new URL(`../${name}`, import.meta.url));
  if (!process.argv.includes("--check")) {
    writeFileSync(path, text);
    console.log(`${name} is written.`);
  } else if (readFileSync(path, "utf8") !== text) {
    console.error(`${name} is out of date. Run: npm run build && node scripts/write-schema.mjs`);
    process.exitCode = 1;
  }
}
