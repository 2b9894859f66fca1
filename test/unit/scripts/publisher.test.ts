import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { serviceGuides, startLanguages } from "../../../scripts/generate/install.mjs";
import { manifestText, publicationText, publishedPackages } from "../../../scripts/generate/metadata.mjs";
import { packageSchema } from "../../../scripts/generate/schema/package-schema";
import { readPublisher } from "../../../scripts/publisher.mjs";
import { scratchFolder } from "../../support/folders";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const noPublisher = { repository: null, publisher: null, npmScope: null };
const acme = { repository: "acme-gpu/compute", publisher: "Acme", npmScope: "@acme" };
const manifestOf = (folder: (typeof publishedPackages)[number]): string =>
  readFileSync(join(root, folder, "package.json"), "utf8");

/** Reads a publisher.json of that text. */
function read(text: string) {
  const folder = scratchFolder();
  writeFileSync(join(folder, "publisher.json"), text);
  return readPublisher(folder);
}

describe("publisher.json", () => {
  test("contains either all values or none", () => {
    expect(read(JSON.stringify(acme))).toEqual(acme);
    expect(read(JSON.stringify(noPublisher))).toEqual(noPublisher);
  });

  test.each([
    [
      { ...acme, repository: "https://github.com/acme-gpu/compute" },
      'repository is "https://github.com/acme-gpu/compute"; it must be "owner/name", or null for none',
    ],
    [{ ...acme, npmScope: "acme" }, 'npmScope is "acme"; it must be "@scope", or null for none'],
    [{ ...acme, publisher: "" }, 'publisher is ""; it must be a name, or null for none'],
    [{ ...acme, owner: "acme" }, "unknown property owner; allowed are repository, publisher, npmScope"],
    [{ repository: null, publisher: null }, "npmScope is undefined"],
  ])("%j is rejected with the fault", (text, message) => {
    expect(() => read(JSON.stringify(text))).toThrow(`publisher.json: ${message}`);
  });
});

describe("values derived from the publisher", () => {
  test("the schema contains the publisher and the plugin's download address", () => {
    expect(packageSchema("1.2.3", acme)).toMatchObject({
      publisher: "Acme",
      homepage: "https://github.com/acme-gpu/compute#readme",
      repository: "https://github.com/acme-gpu/compute",
      logoUrl: "https://raw.githubusercontent.com/acme-gpu/compute/main/docs/logo.svg",
      pluginDownloadURL: "github://api.github.com/acme-gpu/compute",
    });
  });

  test("the SDKs and their examples use its names", () => {
    const { language, resources } = packageSchema("1.2.3", acme);
    expect(language).toMatchObject({
      nodejs: { packageName: "@acme/pulumi-serverless-compute-sdk" },
      go: { importBasePath: "github.com/acme-gpu/compute/sdk/go/serverlesscompute" },
    });
    const description = resources["serverless-compute:index:Secret"]?.description;
    expect(description).toContain('from "@acme/pulumi-serverless-compute-sdk"');
    expect(description).toContain('"github.com/acme-gpu/compute/sdk/go/serverlesscompute"');
  });

  test.each(publishedPackages)("the package.json of %s contains its addresses and is otherwise unchanged", (folder) => {
    const before = JSON.parse(manifestOf(folder));
    const after = JSON.parse(manifestText(manifestOf(folder), folder, acme));
    expect(after).toEqual({
      ...before,
      homepage: `https://github.com/acme-gpu/compute/tree/main/${folder}#readme`,
      bugs: "https://github.com/acme-gpu/compute/issues",
      repository: { type: "git", url: "git+https://github.com/acme-gpu/compute.git", directory: folder },
    });
    expect(JSON.parse(manifestText(JSON.stringify(after), folder, noPublisher))).not.toHaveProperty("repository");
  });

  test("messages link to its pages", () => {
    expect(publicationText(acme)).toContain('= "https://github.com/acme-gpu/compute/blob/main/docs";');
  });

  test("without a publisher, no output contains an address or an unpublished module", () => {
    const schema = packageSchema("1.2.3", noPublisher);
    for (const name of ["publisher", "homepage", "repository", "logoUrl", "pluginDownloadURL"]) {
      expect(schema).not.toHaveProperty(name);
    }
    expect(schema.language).toMatchObject({
      go: { importBasePath: expect.stringMatching(/^serverless-compute\.example\//) },
    });
    expect(publicationText(noPublisher)).not.toContain("http");
  });
});

test("only files generated from publisher.json name the publisher", () => {
  const generated = [
    "schema.json",
    "provider/generated/publication.ts",
    "docs/start/README.md",
    ...startLanguages.map((language) => `docs/start/${language}.md`),
    ...serviceGuides.map((name) => `docs/guides/${name}.md`),
    ...publishedPackages.map((folder) => `${folder}/package.json`),
  ];
  const listed = spawnSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" });
  expect(listed.status, listed.stderr).toBe(0);
  const files = listed.stdout
    .split("\0")
    .filter((path) => path !== "" && path !== "publisher.json" && !/(package-lock\.json|go\.(mod|sum))$/.test(path));
  const ownFiles = files.filter(
    (path) =>
      !generated.includes(path) &&
      !path.startsWith("docs/resources/") &&
      path !== "test/unit/scripts/publisher.test.ts",
  );
  // Owners of repositories that this one uses; the last two belong to the tests and guides. Any other would be the publisher.
  const otherLinks = "actions atotto blang hashicorp nodejs oven-sh pulumi runpod spf13 tgummerer acme-gpu acme".split(
    " ",
  );
  const { repository } = readPublisher(root);
  const names = ownFiles.flatMap((path) => {
    const text = readFileSync(join(root, path)).toString("latin1");
    const owners = [...text.matchAll(/github(?:usercontent)?\.com\/(?:repos\/)?([\w-]+)\/[\w.-]+/g)].map(
      ([, owner = ""]) => owner,
    );
    const unknownEntry = owners.filter((owner) => !otherLinks.includes(owner)).map((owner) => `${path}: ${owner}`);
    return repository !== null && text.includes(repository)
      ? [...unknownEntry, `${path}: ${repository}`]
      : unknownEntry;
  });
  expect(ownFiles.length).toBeGreaterThan(300);
  expect(names, "what another owner has is listed above; what the publisher has is derived").toEqual([]);
});
