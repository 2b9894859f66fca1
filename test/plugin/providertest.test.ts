import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { lastLines, run } from "../../scripts/child.mjs";
import { withCliOnPath } from "../../scripts/cli/cli.mjs";
import { useEngineService } from "../support/engine-service";
import { scratchFolder } from "../support/folders";
import { missingGo, repository } from "./support/sdk";
import { pluginFolder } from "./support/way";
import { findYaml } from "./support/yaml";

const yaml = await findYaml();
const missing = yaml.missing ?? (await missingGo());
if (missing) console.warn(`Pulumi's test framework for providers does not run: ${missing}.`);

describe.skipIf(missing !== undefined)("Pulumi's test framework for providers", () => {
  // Without caches, modules are downloaded and compiled first.
  it("previews, deploys, refreshes and destroys a program", { timeout: 600_000 }, async () => {
    const service = await useEngineService();
    // The framework writes logs with secrets below TMPDIR and beside its tests.
    const folder = scratchFolder(onTestFinished, inject("packed"));
    const [module, temporary] = [join(folder, "module"), join(folder, "tmp")];
    await cp(join(repository, "test", "plugin", "providertest"), module, { recursive: true });
    await mkdir(temporary);
    const finished = await run("go", ["test", "-count=1", "-v", "."], {
      cwd: module,
      env: withCliOnPath(inject("cli"), {
        ...process.env,
        ...service.environment,
        PATH: yaml.path,
        GOFLAGS: "-mod=readonly",
        GOWORK: "off",
        CGO_ENABLED: "0",
        TMPDIR: temporary,
        PULUMI_HOME: join(folder, "home"),
        PULUMI_SKIP_UPDATE_CHECK: "true",
        PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
        DO_NOT_TRACK: "1",
        PLUGIN_FOLDER: pluginFolder(),
      }),
    });
    expect(finished.code, lastLines(finished, 60)).toBe(0);
    expect(finished.stdout).toContain("--- PASS: TestLifecycle");
    expect(await service.listObjects()).toEqual({ endpoints: [], volumes: [], templates: [], secrets: [] });
  });
});
