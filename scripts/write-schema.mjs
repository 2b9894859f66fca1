// Writes what is made from the shapes: schema.json and docs/resources.md. `--check` only says whether they are current.
import { createRequire } from "node:module";
import { root } from "./entry.mjs";
import { writeOrCheck } from "./generated-files.mjs";
import { reference } from "./reference.mjs";

const require = createRequire(import.meta.url);
const { packageSchema } = require("../provider/dist/schema/package-schema.js");
const { version } = require("../provider/package.json");

const schema = packageSchema(version);
writeOrCheck(root, {
  "schema.json": `${JSON.stringify(schema, null, 2)}\n`,
  "docs/resources.md": reference(schema),
});
