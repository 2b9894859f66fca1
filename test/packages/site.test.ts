import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { lastLines, run } from "../../scripts/child.mjs";
import { repository } from "../plugin/support/sdk";
import { scratchFolder } from "../support/folders";

/** Sources of the site: pages, and files that its configuration reads. */
const sources = ["docs", "scripts", "publisher.json", "CHANGELOG.md", "provider/package.json"];

/** Paths of the site's files. */
const pathsIn = (site: string): string[] => readdirSync(site, { recursive: true, encoding: "utf8" });

/** The site's file for an address without its anchor, as resolved by a file server. */
function fileAt(site: string, path: string): string | undefined {
  const names = [path, `${path}.html`, posix.join(path, "index.html")].map((name) => join(site, name));
  return names.find((name) => /\.\w+$/.test(name) && existsSync(name));
}

/** Links of a page to missing files or missing anchors of the site. */
function deadLinks(site: string, page: string): string[] {
  const text = readFileSync(join(site, page), "utf8");
  const targets = [...text.matchAll(/<a [^>]*?href="([^"]*)"/g)].map(([, target = ""]) => target);
  return targets.filter((target) => {
    if (/^(https?|mailto):/.test(target)) return false;
    const { pathname, hash } = new URL(target, `http://site/${page.replace(/(index)?\.html$/, "")}`);
    const file = fileAt(site, pathname);
    return file === undefined || !(hash === "" || readFileSync(file, "utf8").includes(` id="${hash.slice(1)}"`));
  });
}

describe("the site of docs", () => {
  it("fails on a link to a missing page or heading", async () => {
    const site = scratchFolder();
    await mkdir(join(site, "guides"));
    await writeFile(join(site, "a.html"), '<h1 id="one"></h1>');
    const hrefs = ["../a#one", "/a", "#b", "https://example.com/x", "../a#two", "../c", "."];
    const text = hrefs.map((href) => `<a class="x" href="${href}"></a>`).join("<h2 id=b></h2>");
    await writeFile(join(site, "guides", "index.html"), text.replace("<h2 id=b>", '<h2 id="b">'));
    expect(deadLinks(site, "guides/index.html")).toEqual(["../a#two", "../c"]);
  });

  // Its tools are 100 MB and used only by the site, so they are not installed in every run.
  if (process.env["FULL"])
    it("builds from a clean clone without dead links", { timeout: 300_000 }, async () => {
      const folder = scratchFolder();
      for (const path of sources) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        const filter = (from: string): boolean => !/node_modules|[\\/]\.vitepress[\\/](dist|cache)/.test(from);
        await cp(join(repository, path), join(folder, path), { recursive: true, filter });
      }
      for (const args of [
        ["ci", "--no-audit", "--no-fund"],
        ["run", "build"],
      ]) {
        const finished = await run("npm", args, { cwd: join(folder, "docs"), timeout: 280_000 });
        expect(finished.code, lastLines(finished, 20)).toBe(0);
      }
      const site = join(folder, "docs", ".vitepress", "dist");
      const pages = pathsIn(site).filter((name) => name.endsWith(".html"));
      expect(pages.length).toBeGreaterThan(35);
      // The links of the 404 page exist only in the browser.
      const deadTargets = pages
        .filter((name) => name !== "404.html")
        .map((name) => [name, deadLinks(site, name)] as const);
      expect(deadTargets.filter(([, links]) => links.length > 0)).toEqual([]);
      const page = readFileSync(join(site, "resources", "secret.html"), "utf8");
      expect(page).toContain("vp-code-group");
      expect(page).toContain('data-column="meaning"');
      expect(page).toMatch(/Version \d+\.\d+\.\d+/);
      const [index = ""] = pathsIn(site).filter((path) => path.includes("@localSearchIndex"));
      const found = readFileSync(join(site, index), "utf8");
      expect(found).toContain("/resources/serverless-endpoint#workers-and-scaling");
      expect(found).not.toContain("/conformance#");
    });
});
