import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { parsePage } from "../../scripts/docs/pages.mjs";
import { followPage, missingLine } from "../support/page-runner";
import { roomWithPackages } from "./support/guide-room";
import { repository } from "./support/sdk";
import { findYaml } from "./support/yaml";

const yaml = await findYaml();
const readme = "examples/safe-rollout/README.md";
/** The page with the failure message. */
const guide = "docs/roll-out-safely.md";

if (yaml.missing === undefined)
  describe("a reader of the safe rollout example", () => {
    it("deploys, sees the guide's failure and rollback of a broken image, and reverts the change", async () => {
      const room = await roomWithPackages();
      // As in a clone, whose provider the example links to.
      const folder = join(room.folder, dirname(readme));
      await mkdir(dirname(folder));
      const isOwn = (path: string): boolean => !/[\\/](node_modules|Pulumi\.\w+\.yaml)$/.test(path);
      await cp(join(repository, dirname(readme)), folder, { recursive: true, filter: isOwn });
      await symlink(join(inject("packed"), "node_modules", "pulumi-serverless-compute"), join(room.folder, "provider"));
      const env = { ...room.env, PATH: [yaml.path, room.env["PATH"]].join(delimiter) };
      const ran = await followPage(readme, { folder, env }, { fullLifecycle: true });

      const { blocks } = parsePage(guide, await readFile(join(repository, guide), "utf8"));
      const failure = blocks.find(({ text }) => text.startsWith("Diagnostics:"));
      const broken = ran.find(({ block }) => block.text.includes("acme/echo:2"));
      expect(missingLine(failure?.text ?? "no failure is shown", broken?.output ?? ""), broken?.output).toBeUndefined();
    });
  });
