import { existsSync } from "node:fs";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { run } from "../../scripts/child.mjs";
import { withCliOnPath } from "../../scripts/cli/cli.mjs";
import { scratchFolder } from "../support/folders";
import { repository, sdkFor } from "./support/sdk";

const folder = scratchFolder(afterAll, inject("packed"));
beforeAll(async () => {
  await writeFile(join(folder, "Pulumi.yaml"), "name: added\nruntime: nodejs\n");
  await writeFile(join(folder, "package.json"), '{ "name": "added", "private": true }\n');
  await symlink(join(repository, "node_modules"), join(folder, "node_modules"));
});

it("`pulumi package add` accepts the plugin's schema, and generates an SDK with every resource if its host can", async () => {
  // A host built from published modules is older than this command, which then ends after the schema. It also cannot generate an SDK
  // from the schema's file, without the plugin.
  const generated = await sdkFor("nodejs");
  const hostCanGenerate = "source" in generated && generated.source === "cli";
  const bin = join(inject("packed"), "node_modules", "pulumi-serverless-compute", "bin");
  const env = withCliOnPath(inject("cli"), {
    ...process.env,
    PULUMI_HOME: join(folder, "home"),
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    PULUMI_DISABLE_REGISTRY_RESOLVE: "true",
  });
  const plugin = join(bin, "pulumi-resource-serverless-compute");
  const { code, stderr } = await run(inject("cli").command, ["package", "add", plugin], {
    cwd: folder,
    env,
    timeout: 120_000,
  });
  if (!hostCanGenerate) {
    expect(stderr).toMatch(/^error: failed to generate SDK: .*GeneratePackage not implemented$/m);
    return;
  }
  expect(code, stderr).toBe(0);
  const { resources } = JSON.parse(await readFile(join(repository, "schema.json"), "utf8"));
  const sdk = join(folder, "sdks", "serverless-compute");
  const files = Object.keys(resources).map(
    (token) => `${token.replace(/^.*:(.)/, (_, first) => first.toLowerCase())}.ts`,
  );
  expect(files.filter((file) => !existsSync(join(sdk, file)))).toEqual([]);
});
