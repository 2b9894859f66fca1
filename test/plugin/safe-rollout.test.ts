import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { parsePage } from "../../scripts/docs/pages.mjs";
import { followPage, missingLine } from "../support/page-runner";
import { copyExample, environmentWithPackages } from "./support/guide-room";
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
      const folder = await copyExample(readme, environment);
      const env = { ...environment.env, PATH: [yaml.path, environment.env["PATH"]].join(delimiter) };
      const runs = await followPage(readme, { folder, env }, { fullLifecycle: true });

      const { blocks } = parsePage(guide, await readFile(join(repository, guide), "utf8"));
      const failure = blocks.find(({ text }) => text.startsWith("Diagnostics:"));
      const broken = runs.find(({ block }) => block.text.includes("acme/echo:2"));
      expect(missingLine(failure?.text ?? "no failure is shown", broken?.output ?? ""), broken?.output).toBeUndefined();
    });
  });
