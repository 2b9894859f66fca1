import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readPages } from "../../../../scripts/docs/pages.mjs";
import { v2Controllers } from "../../../../service/api/management/controllers";
import { createPager } from "../../../../service/api/management/pages";
import { readSeedFile } from "../../../../service/seed/seed-file";
import { applySeed } from "../../../../service/seed/seeding";
import { scratchFolder } from "../../../support/folders";
import { useResources } from "../resources/resources-rig";

const seeds = readPages(fileURLToPath(new URL("../../../..", import.meta.url)))
  .flatMap(({ blocks }) => blocks)
  .filter(({ language, text }) => language === "yaml" && /^(endpoints|kubernetes):$/m.test(text));

test("the documentation contains seed files", () => {
  expect(seeds.map(({ page }) => page)).toEqual(
    expect.arrayContaining(["docs/service.md", "docs/guides/run-on-your-cluster.md"]),
  );
});

test.each(seeds)("the seed file of $page, line $line, creates its objects", ({ text }) => {
  const folder = scratchFolder();
  const file = join(folder, "endpoints.yaml");
  writeFileSync(file, text);
  writeFileSync(join(folder, "echo.mjs"), "export default ({ input }) => input;");
  const resources = useResources();
  const controllers = v2Controllers({ resources, pager: createPager(1), serverlessUrl: () => "" });
  const seed = readSeedFile(file);
  const { endpointIds } = applySeed(seed, resources, controllers, () => "a-value");
  expect(Object.keys(endpointIds)).toEqual(Object.keys(seed.endpoints));
});
