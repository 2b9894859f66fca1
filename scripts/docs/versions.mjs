/**
 * Menu of the site's versions: the pages of each earlier release are those of its tag.
 * @param {string} version Version of this site.
 * @param {string} changelog Text of CHANGELOG.md, which has a heading with the date of each release.
 * @param {string | null} repository Owner and name of the published repository; null for none.
 */
export function versionMenu(version, changelog, repository) {
  const releases = [...changelog.matchAll(/^## (\d+\.\d+\.\d+\S*) - /gm)].map(([, release = ""]) => release);
  const earlier = releases.filter((release) => release !== version);
  const at = (/** @type {string} */ path) => `https://github.com/${repository}/blob/${path}`;
  const published = [
    { text: "Changes", link: at("main/CHANGELOG.md") },
    ...earlier.map((release) => ({ text: `Pages of ${release}`, link: at(`v${release}/docs/README.md`) })),
  ];
  return {
    text: `Version ${version}`,
    items: [{ text: "Upgrade, or go back", link: "/guides/upgrade" }, ...(repository === null ? [] : published)],
  };
}
