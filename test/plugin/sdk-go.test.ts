import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, inject, it } from "vitest";
import { lastLines, run } from "../../scripts/child.mjs";
import { exampleTexts } from "../support/example-texts";
import { missingGo, repository, sdkFor } from "./support/sdk";

const sdk = await sdkFor("go");
const missing = "reason" in sdk ? sdk.reason : await missingGo();
if (missing) console.warn(`The SDK for Go is not compiled: ${missing}.`);

describe.skipIf(missing !== undefined)("the generated SDK for Go", () => {
  const module = join(inject("packed"), "go-programs");
  afterAll(() => rm(module, { recursive: true, force: true }));

  const go = async (...args: string[]): Promise<void> => {
    const env = { ...process.env, GOFLAGS: "-mod=mod", GOWORK: "off", CGO_ENABLED: "0" };
    const finished = await run("go", args, { cwd: module, env });
    expect(finished.code, lastLines(finished, 40)).toBe(0);
  };

  // Without caches, modules are downloaded and compiled first.
  it("compiles together with the schema's examples", { timeout: 600_000 }, async () => {
    const schema = JSON.parse(await readFile(join(repository, "schema.json"), "utf8"));
    const path: string = schema.language.go.importBasePath;
    await mkdir(module, { recursive: true });
    const lines = ["module programs", "go 1.25", `require ${path} v0.0.0`, `replace ${path} => ../sdk-go/go`, ""];
    await writeFile(join(module, "go.mod"), lines.join("\n"));
    const examples = exampleTexts(schema).filter(({ language }) => language === "go");
    expect(examples.length).toBeGreaterThan(5);
    for (const [index, { text }] of examples.entries()) {
      const folder = join(module, `example${index}`);
      await mkdir(folder);
      // Examples are compiled as libraries, because linking would take longer than everything else.
      await writeFile(join(folder, "main.go"), text.replace(/^package main$/m, "package example"));
    }
    await go("mod", "tidy");
    // The same flags as in the build of the CLI, so that shared packages are compiled only once.
    await go("build", "-trimpath", "./...", `${path}/...`);
  });
});
