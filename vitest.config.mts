import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { readReadings, tagPrefix } from "./test/conformance/readings.mjs";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Tests read the sources, not the build: the package names lead to the TypeScript files. */
const alias = [
  { find: /^serverless-compute-api$/, replacement: here("api/index.ts") },
  { find: /^serverless-compute-api\/address$/, replacement: here("api/address.ts") },
  { find: /^serverless-compute-api\/clock$/, replacement: here("api/clock.ts") },
  { find: /^serverless-compute-api\/redaction$/, replacement: here("api/redaction.ts") },
  { find: /^serverless-compute-api\/shapes$/, replacement: here("api/shapes/index.ts") },
  { find: /^pulumi-serverless-compute$/, replacement: here("provider/index.ts") },
  { find: /^serverless-compute-local$/, replacement: here("service/index.ts") },
];

export default defineConfig({
  resolve: { alias },
  test: {
    reporters: ["default", here("test/support/secrecy-reporter.ts")],
    // Many tests start processes of their own, so more workers than this only wait for each other.
    maxWorkers: 2,
    // A test names the reading of the interface that it rests on; a tag without its row in docs/service.md refuses the run.
    tags: readReadings().map(({ name, reading }) => ({ name: `${tagPrefix}${name}`, description: reading })),
    projects: [
      { extends: true, test: { name: "unit", include: ["test/unit/**/*.test.ts", "test/*.test.ts"] } },
      { extends: true, test: { name: "conformance", include: ["test/conformance/**/*.test.ts"], testTimeout: 30_000 } },
      {
        extends: true,
        test: {
          name: "sdk",
          include: ["test/sdk/**/*.test.ts"],
          globalSetup: ["test/sdk/setup.ts"],
          testTimeout: 120_000,
          hookTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: "faults",
          include: ["test/faults/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: "durability",
          include: ["test/durability/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: "engine",
          include: ["test/engine/**/*.test.ts"],
          globalSetup: ["test/engine/setup.ts"],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: "plugin",
          include: ["test/plugin/**/*.test.ts"],
          globalSetup: ["test/plugin/setup.ts"],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: "packages",
          include: ["test/packages/**/*.test.ts"],
          globalSetup: ["test/packages/setup.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
