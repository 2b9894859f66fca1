import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./entry.mjs";

/**
 * Publisher of the packages and its addresses, from `publisher.json`, the only source. If a value is null, it is omitted
 * everywhere and a release fails.
 * @typedef {object} Publisher
 * @property {string | null} repository Owner and name of the GitHub repository, as in `owner/name`.
 * @property {string | null} publisher The publisher's name in registries.
 * @property {string | null} npmScope The npm scope of the Node SDK, with its `@`; null for none.
 */

/**
 * Format of each value, and its description for messages.
 * @type {Record<keyof Publisher, { form: RegExp, allowed: string }>}
 */
const values = {
  repository: { form: /^[A-Za-z0-9][A-Za-z0-9-]*\/[A-Za-z0-9_.-]+$/, allowed: '"owner/name"' },
  publisher: { form: /\S/, allowed: "a name" },
  npmScope: { form: /^@[a-z0-9-]+$/, allowed: '"@scope"' },
};

/**
 * Reads the publisher's identity and addresses.
 * @param {string} [folder] Folder of publisher.json.
 * @returns {Publisher}
 */
export function readPublisher(folder = root) {
  /** @type {unknown} */
  const read = JSON.parse(readFileSync(join(folder, "publisher.json"), "utf8"));
  const entries = typeof read === "object" && read !== null && !Array.isArray(read) ? Object.entries(read) : [];
  const unknown = entries.map(([name]) => name).filter((name) => !Object.hasOwn(values, name));
  if (unknown.length > 0) {
    throw new Error(
      `publisher.json: unknown property ${unknown.join(", ")}; allowed are ${Object.keys(values).join(", ")}`,
    );
  }
  /** @param {keyof Publisher} name */
  const readEntry = (name) => {
    const value = Object.fromEntries(entries)[name];
    if (value === null) return null;
    const { form, allowed } = values[name];
    if (typeof value === "string" && form.test(value)) return value;
    throw new Error(`publisher.json: ${name} is ${JSON.stringify(value)}; it must be ${allowed}, or null for none`);
  };
  return { repository: readEntry("repository"), publisher: readEntry("publisher"), npmScope: readEntry("npmScope") };
}

/**
 * Addresses derived from the repository; undefined without a repository.
 * @param {Publisher} publisher
 */
export function repositoryLinks({ repository }) {
  if (repository === null) return undefined;
  const page = `https://github.com/${repository}`;
  return {
    page,
    issues: `${page}/issues`,
    documentation: `${page}#readme`,
    docs: `${page}/blob/main/docs`,
    git: `git+${page}.git`,
  };
}

/**
 * The part of the package schema with the publisher and the plugin's download address.
 * @param {Publisher} publisher
 */
export function publishedAt(publisher) {
  const links = repositoryLinks(publisher);
  return {
    ...(publisher.publisher === null ? {} : { publisher: publisher.publisher }),
    ...(links === undefined
      ? {}
      : {
          homepage: links.documentation,
          repository: links.page,
          logoUrl: `https://raw.githubusercontent.com/${publisher.repository}/main/docs/logo.svg`,
          pluginDownloadURL: `github://api.github.com/${publisher.repository}`,
        }),
  };
}

/**
 * Package name of the SDK in each language.
 * @param {Publisher} publisher
 */
export const sdkNames = ({ repository, npmScope }) => ({
  nodejs: [...(npmScope === null ? [] : [npmScope]), "pulumi-serverless-compute-sdk"].join("/"),
  python: "pulumi_serverless_compute",
  // `.example` is a reserved domain, so Go resolves such a module only through a `replace` directive.
  go: `${repository === null ? "serverless-compute.example" : `github.com/${repository}`}/sdk/go/serverlesscompute`,
  csharp: "Pulumi.ServerlessCompute",
  java: "com.pulumi.serverlesscompute",
});

/** @typedef {ReturnType<typeof sdkNames>} SdkNames Package names of the SDKs by language. */
