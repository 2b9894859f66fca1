import { copyFile, mkdir, realpath } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { readProject } from "../../scripts/add/project.mjs";
import { lastLines } from "../../scripts/child.mjs";
import { type CleanRoom, createCleanRoom } from "./support/clean-room";

/** Installing downloads the dependencies. */
const timeout = 300_000;

/** Our packages in the order of `inject("tarballs")`. */
const [client, ...others] = [
  "serverless-compute-api",
  "pulumi-serverless-compute",
  "serverless-compute-local",
] as const;

interface PackageManager {
  name: string;
  /** The npm package with its command. */
  from: string;
  /** Location of the override in a project. */
  place: string;
  overrides(file: string): { manifest?: object; files?: Record<string, string> };
}

const managers: PackageManager[] = [
  {
    name: "pnpm",
    from: "pnpm@10.34.9",
    place: "the overrides of pnpm-workspace.yaml",
    overrides: (file) => ({ files: { "pnpm-workspace.yaml": `overrides:\n  serverless-compute-api: "${file}"\n` } }),
  },
  {
    name: "yarn",
    from: "@yarnpkg/cli-dist@4.18.1",
    place: "the resolutions of package.json",
    overrides: (file) => ({
      manifest: { resolutions: { "serverless-compute-api": file } },
      // The empty file makes the folder a project of its own.
      files: { "yarn.lock": "", ".yarnrc.yml": "nodeLinker: node-modules\nenableTelemetry: false\n" },
    }),
  },
  {
    name: "bun",
    from: "bun@1.4.5",
    place: "the overrides of package.json",
    overrides: (file) => ({ manifest: { overrides: { "serverless-compute-api": file } } }),
  },
];

describe("the steps that `npm run add` prints for another package manager", () => {
  let room: CleanRoom;
  beforeEach(async () => {
    room = await createCleanRoom(process.execPath);
  });
  afterEach(() => room.remove());

  it.each(managers)("install the packages with $name", { timeout }, async ({ name, from, place, overrides }) => {
    const manifest = { name: "infra", private: true, packageManager: from.replace(/^.*@/, `${name}@`) };
    await room.write("package.json", JSON.stringify(manifest));
    await room.write("Pulumi.yaml", "name: infra\nruntime: nodejs\n");
    expect(() => readProject(room.folder)).toThrow(
      `uses ${name}, but this command only runs npm; write the packages to a new folder with "npm run build && node scripts/release/assets.mjs <folder>", set serverless-compute-api to "file:<its .tgz file>" in ${place}, and add the three .tgz files with ${name}`,
    );

    await mkdir(join(room.folder, "release"));
    const files = inject("tarballs").map((path) => `./release/${basename(path)}`);
    for (const path of inject("tarballs")) await copyFile(path, join(room.folder, "release", basename(path)));
    const { manifest: more, files: settings = {} } = overrides(`file:${files[0]}`);
    await room.write("package.json", JSON.stringify({ ...manifest, ...more }));
    for (const [path, text] of Object.entries(settings)) await room.write(path, text);
    const added = files.map((file, index) => `${[client, ...others][index]}@file:${file}`);
    const caches = {
      XDG_DATA_HOME: join(room.folder, "data"),
      XDG_CACHE_HOME: join(room.folder, "cache"),
      XDG_STATE_HOME: join(room.folder, "state"),
      YARN_GLOBAL_FOLDER: join(room.folder, "yarn"),
      BUN_INSTALL_CACHE_DIR: join(room.folder, "bun"),
    };
    const { code, stdout, stderr } = await room.run("npx", ["--yes", "--package", from, name, "add", ...added], caches);
    expect(code, `${stdout}\n${stderr}`).toBe(0);

    // Both packages share the client that the project imports, so that its classes are the same.
    const clientFor = (folder: string): string => createRequire(join(folder, "package.json")).resolve(client);
    for (const other of others) {
      const folder = await realpath(join(room.folder, "node_modules", other));
      expect(await realpath(clientFor(folder)), other).toBe(await realpath(clientFor(room.folder)));
    }
    for (const command of ["serverless-compute", "serverless-compute-local"]) {
      const printed = await room.run(join("node_modules", ".bin", command), ["--version"]);
      expect(printed.stdout, lastLines(printed)).toMatch(new RegExp(`^${command} \\d+\\.\\d+\\.\\d+$`, "m"));
    }
  });
});
