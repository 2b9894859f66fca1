/**
 * Writes all generated files: from the shapes of the resources the argument types, the package schema and the reference
 * pages; the catalog page; the tables of deployments in docs/performance.md; the page of the local service's options; the third-party notices; from publisher.json the addresses in
 * each package.json and in messages. It builds the packages before, because the texts come from them, and after, because they
 * contain generated files. `--check` only compares and requires a build: it prints the outdated files and returns exit code 1.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { require as load } from "tsx/cjs/api";
import { run } from "../child.mjs";
import { root, runScript } from "../entry.mjs";
import { readPublisher } from "../publisher.mjs";
import { noticesText } from "../release/notices.mjs";
import { catalogPage } from "./catalog.mjs";
import {
  installText,
  packagesText,
  serviceGuides,
  serviceText,
  startLanguages,
  startPage,
  withParts,
} from "./install.mjs";
import { manifestText, publicationText, publishedPackages } from "./metadata.mjs";
import { reference } from "./reference.mjs";
import { optionsPage } from "./service-options.mjs";

await runScript(async () => {
  const { check = false } = parseArgs({ options: { check: { type: "boolean" } } }).values;
  // The sources may require generated files that do not exist yet: tsc reports these errors but still compiles.
  if (!check) await compile();
  let staleCount = 0;
  for (const [path, text] of Object.entries(await generatedFiles())) {
    if (!check) {
      writeFileSync(join(root, path), text);
      console.log(`${path} is written.`);
    } else if (!existsSync(join(root, path)) || readFileSync(join(root, path), "utf8") !== text) {
      console.error(`${path} is out of date. Run: npm run generate`);
      staleCount += 1;
    }
  }
  if (check) return staleCount === 0 ? 0 : 1;
  const { code, stdout } = await compile();
  if (code !== 0) console.error(stdout);
  return code ?? 1;
});

function compile() {
  const tsc = join(root, "node_modules", "typescript-native", "bin", "tsc");
  return run(process.execPath, [tsc, "-b"], { cwd: root });
}

/** Texts by path. */
async function generatedFiles() {
  const require = createRequire(import.meta.url);
  const { argsText, propertyNamesText } = load("./schema/args.ts", import.meta.url);
  const { packageSchema } = load("./schema/package-schema.ts", import.meta.url);
  const { savedDeployments } = load("../../bench/page.ts", import.meta.url);
  const { version } = require("../../provider/package.json");
  const publisher = readPublisher();
  const schema = packageSchema(version, publisher);
  const simulated = Object.keys(require("../../service/dist/options.js").simulationShape.shape);
  const manifests = publishedPackages.map((folder) => {
    const path = `${folder}/package.json`;
    return [path, manifestText(readFileSync(join(root, path), "utf8"), folder, publisher)];
  });
  const read = (/** @type {string} */ path) => readFileSync(join(root, path), "utf8");
  const startPages = startLanguages.map((language) => {
    const path = `docs/start/${language}.md`;
    return [path, startPage(read(path), language, publisher, version)];
  });
  const guides = serviceGuides.map((name) => {
    const path = `docs/guides/${name}.md`;
    return [path, withParts(read(path), { install: serviceText(publisher) })];
  });
  return {
    "provider/generated/args.ts": argsText(),
    "provider/generated/property-names.ts": propertyNamesText(),
    "provider/generated/publication.ts": publicationText(publisher),
    "schema.json": `${JSON.stringify(schema, null, 2)}\n`,
    ...reference(schema),
    "provider/THIRD-PARTY-NOTICES.txt": await noticesText(),
    "docs/service-options.md": optionsPage(
      require("../../service/dist/cli/start-options.js"),
      simulated,
      require("../../service/dist/cli/main.js").commandLine(),
    ),
    "docs/performance.md": withParts(read("docs/performance.md"), {
      deployments: savedDeployments(require("../../bench/results.json")),
    }),
    "docs/catalog.md": catalogPage(require("../../api/dist/catalog.js")),
    "README.md": withParts(read("README.md"), {
      install: installText("typescript", publisher, version, "docs/start/README.md"),
    }),
    "docs/start/README.md": withParts(read("docs/start/README.md"), { packages: packagesText(publisher) }),
    ...Object.fromEntries([...startPages, ...guides]),
    ...Object.fromEntries(manifests),
  };
}
