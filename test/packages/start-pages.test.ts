import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, describe, expect, inject, it, onTestFinished } from "vitest";
import type { MoreHosts } from "../../scripts/cli/build.mjs";
import { findHost } from "../../scripts/cli/hosts.mjs";
import { hasPython } from "../plugin/support/guide-room";
import { missingGo, repository } from "../plugin/support/sdk";
import { followPage } from "../support/page-runner";
import { createCleanRoom } from "./support/clean-room";

/** Pages that begin in an empty folder, with their requirements besides Node, npm and the CLI. */
const pages: { page: string; host?: MoreHosts; needsVenv?: true; needsGo?: true }[] = [
  { page: "README.md" },
  { page: "docs/start/typescript.md" },
  { page: "docs/start/yaml.md", host: "yaml" },
  // They generate SDKs and download Pulumi's SDKs; without caches, the SDK for Go compiles for minutes.
  { page: "docs/start/python.md", host: "python", needsVenv: true },
  { page: "docs/start/go.md", host: "go", needsGo: true },
  // They install packages of PyPI.
  { page: "docs/guides/python-worker.md", needsVenv: true },
  { page: "docs/guides/call-your-endpoint.md", needsVenv: true },
];

/** Omits a page, and prints the reason, if the machine lacks a tool that it requires. */
async function prepare({ page, host, needsVenv, needsGo }: (typeof pages)[number]) {
  const hostSearch = host ? await findHost(host, inject("cli")) : undefined;
  const missingTools =
    hostSearch && "reason" in hostSearch
      ? hostSearch.reason
      : needsGo
        ? await missingGo()
        : needsVenv && !(await hasPython())
          ? "there is no Python with venv"
          : undefined;
  if (missingTools) {
    console.warn(`${page} is not followed: ${missingTools}`);
    return [];
  }
  return [{ page, hosts: hostSearch && "folder" in hostSearch ? hostSearch.folder : undefined }];
}

const testedPages = (await Promise.all(pages.map(prepare))).flat();

describe("a reader who follows a page in an empty folder", () => {
  const seconds: Record<string, number> = {};
  afterAll(() => {
    console.info(`Seconds for each page, from an empty folder: ${JSON.stringify(seconds)}`);
  });

  it.each(testedPages)("ends up with a running endpoint: $page", { timeout: 900_000 }, async ({ page, hosts }) => {
    const environment = await createCleanRoom(process.execPath);
    onTestFinished(environment.remove);
    const folder = join(environment.folder, "chat");
    const npmFlags = { npm_config_prefer_offline: "true", npm_config_audit: "false", npm_config_fund: "false" };
    const path = [environment.env["PATH"], hosts].filter(Boolean).join(delimiter);
    const started = Date.now();
    const runs = await followPage(
      page,
      { folder, env: { ...environment.env, ...npmFlags, PATH: path } },
      { timeout: 600_000, clone: repository },
    );
    seconds[page] = Math.round((Date.now() - started) / 1000);
    expect(runs.length).toBeGreaterThan(1);
    expect(["handler.mjs", "handler.py"].some((name) => existsSync(join(folder, name)))).toBe(true);
  });
});
