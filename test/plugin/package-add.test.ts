import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { run } from "../../scripts/child.mjs";
import { withCliOnPath } from "../../scripts/cli/cli.mjs";
import { repository } from "./support/sdk";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(inject("packed"), "package-add-"));
  await writeFile(join(folder, "Pulumi.yaml"), "name: added\nruntime: nodejs\n");
  await writeFile(join(folder, "package.json"), '{ "name": "added", "private": true }\n');
  await symlink(join(repository, "node_modules"), join(folder, "node_modules"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** CLI error if it has a plugin's schema and the language's host is too old to generate an SDK. */
const isHostTooOld = /failed to generate SDK: .*GeneratePackage not implemented/;

it("`pulumi package add` accepts the plugin's schema and generates an SDK with every resource", async () => {
  const plugin = join(
    inject("packed"),
    "node_modules",
    "pulumi-serverless-compute",
    "bin",
    "pulumi-resource-serverless-compute",
  );
  const env = withCliOnPath(inject("cli"), {
    ...process.env,
    PULUMI_HOME: join(folder, "home"),
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    PULUMI_DISABLE_REGISTRY_RESOLVE: "true",
  });
  const result = await run(inject("cli").command, ["package", "add", plugin], { cwd: folder, env, timeout: 120_000 });
  // Hosts built from published modules are older than this command, which then ends after the schema.
  if (isHostTooOld.test(result.stderr)) return expect(result.code).not.toBe(0);
  expect(result.code, result.stderr).toBe(0);
  const { resources } = JSON.parse(await readFile(join(repository, "schema.json"), "utf8"));
  const sdk = join(folder, "sdks", "serverless-compute");
  const files = Object.keys(resources).map(
    (token) => `${token.replace(/^.*:(.)/, (_, first) => first.toLowerCase())}.ts`,
  );
  expect(files.filter((file) => !existsSync(join(sdk, file)))).toEqual([]);
});
