import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import { run } from "../../../scripts/child.mjs";
import { scratchFolder } from "../../support/folders";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const reportShape = z.looseObject({
  diagnostics: z.array(
    z.looseObject({
      message: z.string(),
      location: z.looseObject({ path: z.string(), start: z.looseObject({ line: z.number() }) }),
    }),
  ),
});

/** Lines that violate our rules in biome.json and scripts/lint, and lines that resemble a violation. */
const files: Record<string, string[]> = {
  "api/a.ts": [
    "export const cast = 1 as unknown as string;",
    'export const a = (error: Error) => error.message.includes("lost");',
    'export const b = (error: Error) => /"(\\w+)"/.exec(error.message);',
    'export const c = (error?: Error) => error?.message === "lost";',
    "export class JobGone extends Error {}",
    "export class ApiError extends Error {}",
    "export const text = 'as unknown as string';",
    "export const known = 1 as unknown;",
  ],
  "api/errors.ts": [
    "export class ApiError extends Error {}",
    'export const x = (error: Error) => error.message.trim().replace(/\\n/g, " ");',
  ],
  "provider/framework/b.ts": ["export class LostCreate extends UserError {}"],
  "service/workers/a.ts": [
    'export const a = ({ runtime }: Settings) => runtime === "kubernetes";',
    'export const b = (options: Options) => "docker" !== options.runtime;',
    'switch (settings.runtime) { case "none": }',
    "export const c = (seed: Seed) => seed.runtime === undefined;",
    'export const d = (error: Error) => error.message === "lost";',
  ],
  "service/queue/store.ts": ['import Database from "libsql";', 'export * from "libsql/promise";'],
  "test/unit/a.test.ts": ['import { type Client } from "@libsql/client";', 'await import("libsql");'],
  "service/store/database.ts": ['import Database from "libsql";'],
  "test/unit/service/store/support/a.ts": ['import Database from "libsql";'],
  "service/workers/runtimes/a.ts": [
    'export const a = (settings: Settings) => settings.runtime === "kubernetes";',
    'export const b = (error: Error) => error.message === "lost";',
  ],
};

test("Biome reports casts by way of unknown, tests of messages and of the runtime, further error classes, and imports of libsql", async () => {
  const folder = scratchFolder();
  const { vcs: _vcs, ...config } = JSON.parse(readFileSync(join(root, "biome.json"), "utf8"));
  writeFileSync(join(folder, "biome.json"), JSON.stringify(config));
  cpSync(join(root, "scripts/lint"), join(folder, "scripts/lint"), { recursive: true });
  for (const [path, lines] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), lines.join("\n"));
  }
  const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
  const { stdout } = await run(process.execPath, [biome, "lint", "--reporter=json", "--max-diagnostics=none"], {
    cwd: folder,
  });
  const { diagnostics } = reportShape.parse(JSON.parse(stdout));
  const ours = /runtime decide|code of an error|one error|through unknown|name libsql/;
  const found = diagnostics.filter(({ message }) => ours.test(message));
  expect(found.map(({ location: { path, start } }) => `${path}:${start.line}`).sort()).toEqual([
    "api/a.ts:1",
    "api/a.ts:2",
    "api/a.ts:3",
    "api/a.ts:4",
    "api/a.ts:5",
    "api/a.ts:6",
    "provider/framework/b.ts:1",
    "service/queue/store.ts:1",
    "service/queue/store.ts:2",
    "service/workers/a.ts:1",
    "service/workers/a.ts:2",
    "service/workers/a.ts:3",
    "service/workers/a.ts:5",
    "test/unit/a.test.ts:1",
    "test/unit/a.test.ts:2",
  ]);
});
