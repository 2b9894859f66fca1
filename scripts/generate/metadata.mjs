// What says who publishes the packages and where, made of publisher.json.
import { createRequire } from "node:module";

/** @typedef {import("../publisher.mjs").Publisher} Publisher */

/** The packages that are published; all have the same version. */
export const publishedPackages = /** @type {const} */ (["api", "provider", "service"]);

/** What stands before the addresses in a package.json; the rest comes after them. */
const first = ["name", "version", "description", "keywords", "license"];
const addresses = ["homepage", "bugs", "repository"];

/**
 * The text of a package.json with the addresses of the repository, or with none where there is none.
 * @param {string} text The text as it is.
 * @param {(typeof publishedPackages)[number]} folder
 * @param {Publisher} publisher
 */
export function manifestText(text, folder, publisher) {
  const { repositoryLinks } = createRequire(import.meta.url)("../../provider/dist/schema/publisher.js");
  /** @type {Record<string, unknown>} */
  const manifest = JSON.parse(text);
  const links = repositoryLinks(publisher);
  const isFirst = (/** @type {[string, unknown]} */ [name]) => first.includes(name);
  const entries = Object.entries(manifest).filter(([name]) => !addresses.includes(name));
  const made = {
    ...Object.fromEntries(entries.filter(isFirst)),
    ...(links && {
      homepage: `${links.page}/tree/main/${folder}#readme`,
      bugs: links.issues,
      repository: { type: "git", url: links.git, directory: folder },
    }),
    ...Object.fromEntries(entries.filter((entry) => !isFirst(entry))),
  };
  return `${JSON.stringify(made, null, 2)}\n`;
}

/**
 * The module that says where messages lead to for help.
 * @param {Publisher} publisher
 */
export function pagesAddressText(publisher) {
  const { repositoryLinks } = createRequire(import.meta.url)("../../provider/dist/schema/publisher.js");
  return `// Written by npm run generate from publisher.json: change that, not this file.

/** Where the pages of docs are on the web; undefined while nobody publishes them. */
export const pagesAddress: string | undefined = ${JSON.stringify(repositoryLinks(publisher)?.docs)};
`;
}

/**
 * The text of CODEOWNERS: whose review a change needs.
 * @param {Publisher} publisher
 */
export function codeOwnersText({ repository }) {
  const origin = "# Written by npm run generate from publisher.json: change that, not this file.\n";
  return repository === null
    ? `${origin}# It names no repository yet, so nobody owns these files.\n`
    : `${origin}* @${repository.split("/")[0]}\n`;
}
