import { existsSync } from "node:fs";
import { copyFile, mkdir, rm } from "node:fs/promises";
import { basename, delimiter, join } from "node:path";
import { afterAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { lastLines, run } from "../../scripts/child.mjs";
import type { MoreHosts } from "../../scripts/cli/build.mjs";
import { findHost } from "../../scripts/cli/hosts.mjs";
import { generateSdk, type SdkLanguage } from "../../scripts/generate/sdks.mjs";
import { hasPython } from "../plugin/support/guide-room";
import { missingGo, repository } from "../plugin/support/sdk";
import { followPage } from "../support/page-runner";
import { type CleanRoom, createCleanRoom } from "./support/clean-room";

/** Pages that begin in an empty folder, with their requirements besides Node, npm and the CLI. */
const pages: { page: string; sdk?: SdkLanguage; host?: MoreHosts; needsVenv?: true; onlyFull?: true }[] = [
  { page: "docs/start/typescript.md" },
  { page: "docs/start/yaml.md", host: "yaml" },
  // They generate SDKs and download Pulumi's SDKs; without caches, the SDK for Go compiles for minutes.
  { page: "docs/start/python.md", host: "python", sdk: "python", onlyFull: true },
  { page: "docs/start/go.md", host: "go", sdk: "go", onlyFull: true },
  // They install packages of PyPI.
  { page: "docs/guides/python-worker.md", needsVenv: true, onlyFull: true },
  { page: "docs/guides/call-your-endpoint.md", needsVenv: true, onlyFull: true },
];

/** Omits a page, and prints the reason, if the machine lacks a tool that it requires. */
async function prepare({ page, sdk, host, needsVenv, onlyFull }: (typeof pages)[number]) {
  if (onlyFull && !process.env["FULL"]) return [];
  if (needsVenv && !(await hasPython())) {
    console.warn(`${page} is not followed: there is no Python with venv`);
    return [];
  }
  const hostSearch = host ? await findHost(host, inject("cli")) : undefined;
  const missingTools =
    hostSearch && "reason" in hostSearch ? hostSearch.reason : sdk === "go" ? await missingGo() : undefined;
  if (missingTools) {
    console.warn(`${page} is not followed: ${missingTools}`);
    return [];
  }
  return [{ page, sdk, hosts: hostSearch && "folder" in hostSearch ? hostSearch.folder : undefined }];
}

const testedPages = (await Promise.all(pages.map(prepare))).flat();

describe("a reader who follows a page in an empty folder", () => {
  /** Writes the release assets that the page requires, as scripts/release/assets.mjs does. */
  const fillRelease = async (environment: CleanRoom, sdk: SdkLanguage | undefined): Promise<void> => {
    const release = join(environment.folder, "release");
    await mkdir(release);
    for (const tarball of inject("tarballs")) await copyFile(tarball, join(release, basename(tarball)));
    if (sdk === undefined) return;
    const target = join(environment.folder, "made");
    const generated = await generateSdk(sdk, { schema: join(repository, "schema.json"), target, cli: inject("cli") });
    if ("reason" in generated) throw new Error(generated.reason);
    const archive = join(release, `pulumi-serverless-compute-sdk-${sdk}-v0.1.0.tar.gz`);
    const packed = await run("tar", ["-czf", archive, "-C", generated.folder, "."]);
    expect(packed.code, lastLines(packed)).toBe(0);
    await rm(target, { recursive: true });
  };

  const seconds: Record<string, number> = {};
  afterAll(() => {
    console.info(`Seconds for each page, from an empty folder: ${JSON.stringify(seconds)}`);
  });

  it.each(testedPages)("ends up with a running endpoint: $page", { timeout: 900_000 }, async ({ page, sdk, hosts }) => {
    const environment = await createCleanRoom(process.execPath);
    onTestFinished(environment.remove);
    await fillRelease(environment, sdk);
    const npmFlags = { npm_config_prefer_offline: "true", npm_config_audit: "false", npm_config_fund: "false" };
    const path = [environment.env["PATH"], hosts].filter(Boolean).join(delimiter);
    const started = Date.now();
    const runs = await followPage(
      page,
      { folder: environment.folder, env: { ...environment.env, ...npmFlags, PATH: path } },
      { timeout: 600_000 },
    );
    seconds[page] = Math.round((Date.now() - started) / 1000);
    expect(runs.length).toBeGreaterThan(1);
    expect(["handler.mjs", "handler.py"].some((name) => existsSync(join(environment.folder, name)))).toBe(true);
  });
});
