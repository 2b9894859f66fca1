import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { parsePage } from "../../scripts/docs/pages.mjs";
import { followPage, missingLine } from "../support/page-runner";
import { environmentWithPackages } from "./support/guide-room";
import { repository } from "./support/sdk";
import { findYaml } from "./support/yaml";

const yaml = await findYaml();
const readme = "examples/safe-rollout/README.md";
/** The page with the failure message. */
const guide = "docs/roll-out-safely.md";

if (yaml.missing === undefined)
  describe("a reader of the safe rollout example", () => {
    it("deploys, sees the guide's failure and rollback of a broken image, and reverts the change", async () => {
      const environment = await environmentWithPackages();
      // Links as in a clone, because the example links to its provider.
      const folder = join(environment.folder, dirname(readme));
      await mkdir(dirname(folder));
      const isCopied = (path: string): boolean => !/[\\/](node_modules|Pulumi\.\w+\.yaml)$/.test(path);
      await cp(join(repository, dirname(readme)), folder, { recursive: true, filter: isCopied });
      await symlink(
        join(inject("packed"), "node_modules", "pulumi-serverless-compute"),
        join(environment.folder, "provider"),
      );
      const env = { ...environment.env, PATH: [yaml.path, environment.env["PATH"]].join(delimiter) };
      const runs = await followPage(readme, { folder, env }, { fullLifecycle: true });

      const { blocks } = parsePage(guide, await readFile(join(repository, guide), "utf8"));
      const failure = blocks.find(({ text }) => text.startsWith("Diagnostics:"));
      const broken = runs.find(({ block }) => block.text.includes("acme/echo:2"));
      expect(missingLine(failure?.text ?? "no failure is shown", broken?.output ?? ""), broken?.output).toBeUndefined();
    });
  });
