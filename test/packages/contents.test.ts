import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { z } from "zod";
import { run } from "../../scripts/child.mjs";
import { repository } from "../plugin/support/sdk";
import { scratchFolder } from "../support/folders";

const manifestShape = z.looseObject({
  name: z.string(),
  version: z.string(),
  license: z.string(),
  engines: z.object({ node: z.string() }),
  bin: z.record(z.string(), z.string()).default({}),
  dependencies: z.record(z.string(), z.string()),
});

describe.each(["api", "provider", "service"] as const)("the packed %s", (part) => {
  const folder = scratchFolder(afterAll);
  let files: string[];
  let manifest: z.output<typeof manifestShape>;
  beforeAll(async () => {
    const tarball = inject("tarballs")[["api", "provider", "service"].indexOf(part)] ?? "";
    const { code, stderr } = await run("tar", ["-xzf", tarball, "-C", folder, "--strip-components=1"]);
    expect(code, stderr).toBe(0);
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    files = entries
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name).slice(folder.length + 1));
    manifest = manifestShape.parse(JSON.parse(await readFile(join(folder, "package.json"), "utf8")));
  });

  it("contains README, licence and compiled code, but no sources", async () => {
    expect(files).toEqual(expect.arrayContaining(["README.md", "LICENSE", "package.json"]));
    const knownFiles =
      /^(README\.md|LICENSE|THIRD-PARTY-NOTICES\.txt|package\.json|bin\/[\w.-]+|dist\/([\w-]+\/)*[\w-]+(\.d\.ts|\.js)|dist\/plugin-[\w.-]+\.cache|dist\/deployment-clients\.js\.LEGAL\.txt|dist\/plugin-schema\.json|console\/page\/[a-z-]+\.(html|css|mjs|svg))$/;
    expect(files.filter((file) => !knownFiles.test(file))).toEqual([]);
    expect(await readFile(join(folder, "README.md"), "utf8")).toContain(`# ${manifest.name}\n`);
  });

  it("of the service contains the files of its console's page", async () => {
    if (part !== "service") return expect(files.filter((file) => file.startsWith("console/"))).toEqual([]);
    const texts = await Promise.all(
      ["index.html", "main.mjs"].map((name) => readFile(join(folder, "console/page", name), "utf8")),
    );
    const namedFiles = texts.flatMap((text) =>
      [...text.matchAll(/(?:"\/console|from "\.)\/([^"]+)"/g)].map(([, name]) => `console/page/${name}`),
    );
    expect(namedFiles.length).toBeGreaterThan(8);
    expect(files).toEqual(expect.arrayContaining(namedFiles));
  });

  // publint checks the entry points (entry-points.test.ts).
  it("has executable commands", async () => {
    for (const command of Object.values(manifest.bin)) {
      expect((await stat(join(folder, command))).mode & 0o111, command).toBe(0o111);
      expect(await readFile(join(folder, command), "utf8")).toMatch(
        /^#!(\/usr\/bin\/env (-S )?node( --[a-z-]+=\d+)*|\/bin\/sh)\n/,
      );
    }
  });

  it("depends on exactly the packages that it imports", async () => {
    const texts = await Promise.all(
      files
        // Bundles contain their dependencies.
        .filter((file) => file.endsWith(".js") && !/^dist\/plugin(-\w+)?\.js$/.test(file))
        .map((file) => readFile(join(folder, file), "utf8")),
    );
    const required = texts.flatMap((text) => [...text.matchAll(/(?:require|import)\("([^."][^"]*)"\)/g)]);
    const names = required.map(([, specifier = ""]) => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? "");
    const otherPackages = new Set(names.filter((name) => !name.startsWith("node:") && name !== manifest.name));
    const peers = z.record(z.string(), z.string()).parse(manifest["peerDependencies"] ?? {});
    const declared = { ...manifest.dependencies, ...peers };
    expect([...otherPackages].filter((name) => !Object.hasOwn(declared, name))).toEqual([]);
  });

  it("shares version, licence and lowest Node with the others, and contains no machine paths", async () => {
    const common = z.looseObject({ version: z.string(), license: z.string(), engines: z.object({ node: z.string() }) });
    const api = common.parse(JSON.parse(await readFile(join(repository, "api", "package.json"), "utf8")));
    expect(common.strip().parse(manifest)).toEqual(common.strip().parse(api));
    expect(manifest.dependencies["serverless-compute-api"] ?? api.version).toBe(api.version);
    for (const file of files.filter((file) => !file.endsWith(".cache")))
      expect(await readFile(join(folder, file), "latin1"), file).not.toContain(repository.replace(/\/$/, ""));
  });
});
