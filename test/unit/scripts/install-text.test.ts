import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parsePage } from "../../../scripts/docs/pages.mjs";
import { root } from "../../../scripts/entry.mjs";
import { packagesText, serviceText, startLanguages, startPage } from "../../../scripts/generate/install.mjs";

const unpublished = { repository: null, publisher: null, npmScope: null };
const acme = { repository: "acme-gpu/compute", publisher: "Acme", npmScope: "@acme" };
const commandsOf = (text: string): string[] =>
  parsePage("page.md", text)
    .blocks.filter(({ language }) => language === "sh")
    .flatMap(({ text: block }) => block.trim().split("\n"));

describe.each(startLanguages)("the start page of %s", (language) => {
  const text = readFileSync(join(root, "docs", "start", `${language}.md`), "utf8");
  const published = startPage(text, language, acme, "1.2.3");

  test("installs from a clone with one command until the packages are published", () => {
    const commands = commandsOf(startPage(text, language, unpublished, "1.2.3"));
    const option = language === "typescript" ? "" : ` --language ${language}`;
    expect(commands).toContain(`npm run add -- ../chat${option}`);
    expect(commands.filter((line) => /npm (install|init)/.test(line))).toEqual([]);
  });

  test("installs from the registries with one npm command after the packages are published", () => {
    const commands = commandsOf(published).filter((line) => /^(npm|venv\/bin\/pip|go get)\b/.test(line));
    const others = {
      typescript: [" @pulumi/pulumi@3 typescript@5.9 @types/node@20"],
      python: ["", "venv/bin/pip install pulumi_serverless_compute"],
      go: ["", "go get github.com/acme-gpu/compute/sdk/go/serverlesscompute"],
      yaml: [""],
    }[language];
    const [packages, ...rest] = others;
    expect(commands).toEqual([`npm install pulumi-serverless-compute serverless-compute-local${packages}`, ...rest]);
    expect(published).not.toMatch(/npm run add|\.\.\/chat|serverless-compute\.example/);
  });

  test("contains a Pulumi.yaml in both forms, and is unchanged by a second rendering", () => {
    const hasProject = (page: string): boolean => page.includes("```yaml [Pulumi.yaml]\nname: chat\n");
    expect(hasProject(published)).toBe(true);
    expect(published.includes("version: 1.2.3") || language === "typescript" || language === "yaml").toBe(true);
    expect(startPage(published, language, unpublished, "0.1.0")).toBe(startPage(text, language, unpublished, "0.1.0"));
  });
});

test("guides without Pulumi install the local service from a clone, or from the registry", () => {
  expect(commandsOf(serviceText(unpublished))).toContain("npm run add -- ../chat --language none");
  expect(commandsOf(serviceText(acme))).toEqual(["npm install serverless-compute-local"]);
});

test("the page about the packages names the command of a clone, or the registries", () => {
  expect(commandsOf(packagesText(unpublished))).toEqual(["npm run add -- ../my-project"]);
  expect(commandsOf(packagesText(acme))).toEqual(["npm install pulumi-serverless-compute serverless-compute-local"]);
});
