import { sdkNames } from "../publisher.mjs";

/** @typedef {import("../publisher.mjs").Publisher} Publisher */
/** @typedef {keyof typeof languages} StartLanguage */

/** Languages with a start page: the option of `npm run add`, and the commands after the installation from registries. */
const languages = {
  typescript: {
    option: "",
    packages: " @pulumi/pulumi@3 typescript@5.9 @types/node@20",
    settings: "runtime: nodejs",
    commands: () => [],
  },
  python: {
    option: " --language python",
    packages: "",
    settings: "runtime:\n  name: python\n  options:\n    virtualenv: venv",
    commands: (/** @type {Publisher} */ publisher) => [
      "python3 -m venv venv",
      `venv/bin/pip install ${sdkNames(publisher).python}`,
    ],
  },
  go: {
    option: " --language go",
    packages: "",
    settings: "runtime: go",
    commands: (/** @type {Publisher} */ publisher) => ["go mod init chat", `go get ${sdkNames(publisher).go}`],
  },
  yaml: { option: " --language yaml", packages: "", settings: undefined, commands: () => [] },
};

/** Languages with a start page, `docs/start/<language>.md`. */
export const startLanguages = /** @type {StartLanguage[]} */ (Object.keys(languages));

/**
 * A start page with the names and instructions of the publisher.
 * @param {string} text The present text.
 * @param {StartLanguage} language
 * @param {Publisher} publisher
 * @param {string} version Version of the packages.
 */
export const startPage = (text, language, publisher, version) =>
  withParts(text, { install: installText(language, publisher, version) }).replace(
    /"[^"\s]+\/sdk\/go\/serverlesscompute"/,
    `"${sdkNames(publisher).go}"`,
  );

/**
 * The instructions of a start page to install the packages: from a clone until they are published, then from registries.
 * @param {StartLanguage} language
 * @param {Publisher} publisher
 * @param {string} version Version of the packages.
 * @param {string} [start] Path of docs/start/README.md from the page.
 */
export function installText(language, publisher, version, start = "README.md") {
  const { option, packages, settings, commands } = languages[language];
  if (publisher.repository === null) {
    return `Run this in [a clone](${start}#get-the-packages). \`../chat\` is an empty folder or your Pulumi project's folder:

\`\`\`sh
mkdir -p ../chat
npm run add -- ../chat${option}
cd ../chat
\`\`\``;
  }
  const lines = [`npm install pulumi-serverless-compute serverless-compute-local${packages}`, ...commands(publisher)];
  const plugin = `
plugins:
  providers:
    - name: serverless-compute
      path: node_modules/pulumi-serverless-compute/bin
      version: ${version}`;
  const project =
    settings === undefined
      ? ""
      : `\n\n\`\`\`yaml [Pulumi.yaml]\nname: chat\n${settings}${language === "typescript" ? "" : plugin}\n\`\`\``;
  return `Use an empty folder or your Pulumi project's folder:

\`\`\`sh
${lines.join("\n")}
\`\`\`${project}`;
}

/**
 * The instructions of a guide that requires only the local service.
 * @param {Publisher} publisher
 */
export function serviceText(publisher) {
  const commands =
    publisher.repository === null
      ? "mkdir -p ../chat\nnpm run add -- ../chat --language none\ncd ../chat"
      : "npm install serverless-compute-local";
  const place =
    publisher.repository === null
      ? "Run this in [a clone](../start/README.md#get-the-packages). `../chat` is an empty folder:"
      : "Use an empty folder:";
  return `${place}\n\n\`\`\`sh\n${commands}\n\`\`\``;
}

/** Guides that require only the local service. */
export const serviceGuides = ["python-worker", "call-your-endpoint"];

/**
 * The instructions of docs/start/README.md to get the packages.
 * @param {Publisher} publisher
 */
export function packagesText(publisher) {
  if (publisher.repository !== null) {
    return `Install the packages into your project. Each start page lists what its language also requires:

<!-- not run: the packages come from a registry; test/packages/start-pages.test.ts installs the same packages from a clone -->
\`\`\`sh
npm install pulumi-serverless-compute serverless-compute-local
\`\`\``;
  }
  return `**No package is published to npm, PyPI or a Go proxy yet.** One command in a clone of this repository builds the packages and
installs them into a Pulumi project or an empty folder:

<!-- not run: it names a folder of yours; test/packages/start-pages.test.ts runs the command for each language -->
\`\`\`sh
npm run add -- ../my-project
\`\`\`

The command reads the language from \`Pulumi.yaml\`. In an empty folder, add \`--language python\`, \`go\`, \`yaml\`, \`dotnet\` or
\`java\`; the default is \`typescript\`. \`--language none\` is for the local service without Pulumi.

- The packages are copied to the project's subfolder \`release\` and installed with npm. Your other packages keep their versions.
- An SDK for Python, Go, .NET or Java is copied to \`sdks\` and installed: with pip into the virtual environment, or as a
  \`replace\` line in \`go.mod\`. For .NET and Java, the command prints the remaining step.
- The plugin is added to \`Pulumi.yaml\`, except in TypeScript.
- If a step fails or you press Ctrl-C, the project keeps its previous files.
- Commit \`release\` and \`sdks\`, from which the packages are installed. Add \`node_modules\` and \`venv\` to \`.gitignore\`.

Run the command again to [upgrade](../guides/upgrade.md). It requires npm. In a project of
pnpm, Yarn or Bun, it prints how to add the packages instead.`;
}

/**
 * Replaces the text between the comments `<!-- NAME: generated -->` and `<!-- end -->` of a page.
 * @param {string} page
 * @param {Record<string, string>} parts
 */
export function withParts(page, parts) {
  return Object.entries(parts).reduce((text, [name, part]) => {
    const start = `<!-- ${name}: generated -->`;
    const from = text.indexOf(start);
    const to = text.indexOf("<!-- end -->", from);
    if (from < 0 || to < 0) throw new Error(`the comment ${start} or its end is missing`);
    return `${text.slice(0, from + start.length)}\n\n${part}\n\n${text.slice(to)}`;
  }, page);
}
