import { expect, test } from "vitest";
import { versionMenu } from "../../../scripts/docs/versions.mjs";

const changelog =
  "# Changelog\n\n## Unreleased\n\n- A.\n\n## 0.2.0 - 2027-02-01\n\n- B.\n\n## 0.1.0 - 2027-01-01\n\n## 0.0.1 (unreleased)\n";

test("the site's menu of versions links the changes and the pages of each earlier release where they are published", () => {
  const { text, items } = versionMenu("0.2.0", changelog, "acme-gpu/compute");
  expect(text).toBe("Version 0.2.0");
  expect(items).toEqual([
    { text: "Upgrade, or go back", link: "/guides/upgrade" },
    { text: "Changes", link: "https://github.com/acme-gpu/compute/blob/main/CHANGELOG.md" },
    { text: "Pages of 0.1.0", link: "https://github.com/acme-gpu/compute/blob/v0.1.0/docs/README.md" },
  ]);
});

test("without a published repository, the menu links only pages of the site", () => {
  expect(versionMenu("0.2.0", changelog, null).items).toEqual([
    { text: "Upgrade, or go back", link: "/guides/upgrade" },
  ]);
});
