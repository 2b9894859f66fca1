// Generates the publisher's addresses from publisher.json.
import { repositoryLinks, sdkNames } from "../publisher.mjs";

/** @typedef {import("../publisher.mjs").Publisher} Publisher */

/** The published packages, which share one version. */
export const publishedPackages = /** @type {const} */ (["api", "provider", "service"]);

/**
 * A package.json with the addresses of the repository, or without addresses if there is none.
 * @param {string} text The present text.
 * @param {(typeof publishedPackages)[number]} folder
 * @param {Publisher} publisher
 */
export function manifestText(text, folder, publisher) {
  const { homepage: _homepage, bugs: _bugs, repository: _repository, ...manifest } = JSON.parse(text);
  const links = repositoryLinks(publisher);
  const files = {
    ...manifest,
    ...(links && {
      homepage: `${links.page}/tree/main/${folder}#readme`,
      bugs: links.issues,
      repository: { type: "git", url: links.git, directory: folder },
    }),
  };
  return `${JSON.stringify(files, null, 2)}\n`;
}

/**
 * The module with the address of the help pages for error messages, and the names of the SDKs for generated programs.
 * @param {Publisher} publisher
 */
export function publicationText(publisher) {
  const { nodejs, python, go } = sdkNames(publisher);
  return `// Written by npm run generate from publisher.json: change that, not this file.

/** Web address of the docs; undefined if they are not published. */
export const pagesAddress: string | undefined = ${JSON.stringify(repositoryLinks(publisher)?.docs)};

/** Package names of the SDKs. */
export const sdkPackages = {
${Object.entries({ nodejs, python, go })
  .map(([language, name]) => `  ${language}: ${JSON.stringify(name)},`)
  .join("\n")}
};
`;
}
