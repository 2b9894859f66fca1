import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, delimiter, dirname, join } from "node:path";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { installPackages } from "../../scripts/add/installation.mjs";
import { readProject } from "../../scripts/add/project.mjs";
import { run } from "../../scripts/child.mjs";
import { hasPython } from "../plugin/support/guide-room";
import { writePolicyHost } from "../plugin/support/policy-host";
import { repository } from "../plugin/support/sdk";
import { serve } from "../support/loopback";
import { type CleanRoom, createCleanRoom } from "./support/clean-room";

const hasVenv = await hasPython();
const tarballs = inject("tarballs");
const packages = {
  folder: dirname(tarballs[0] ?? ""),
  files: tarballs.map((path) => basename(path)),
  version: "0.1.0",
  sdk: undefined,
  goModule: "",
};

/** A folder with these files, deleted after the test. */
async function projectWith(files: Record<string, string>): Promise<CleanRoom> {
  const room = await createCleanRoom(process.execPath);
  onTestFinished(room.remove);
  for (const [name, text] of Object.entries(files)) await room.write(name, text);
  return room;
}

/** Starts a registry with one package, whose download never ends. Returns its address. */
async function startSilentRegistry(name: string, onDownload: () => void): Promise<string> {
  const address = await serve((request, response) => {
    if (request.url?.endsWith(".tgz")) return onDownload();
    const dist = { tarball: `${address}/package.tgz`, shasum: "0".repeat(40) };
    const versions = { "1.0.0": { name, version: "1.0.0", dist } };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ name, "dist-tags": { latest: "1.0.0" }, versions }));
  });
  return address;
}

const read = (room: CleanRoom, name: string): Promise<string> => readFile(join(room.folder, name), "utf8");

describe("the packages of a clone", { timeout: 280_000 }, () => {
  it("are installed into a project and leave the versions of its other packages unchanged", async () => {
    // The packages require a newer zod, which npm must install next to them.
    const dependencies = { "@pulumi/pulumi": "3.248.0", zod: "~4.0.0" };
    const manifest = { name: "chat", private: true, scripts: { lint: "true" }, dependencies };
    const room = await projectWith({
      "package.json": JSON.stringify(manifest),
      "Pulumi.yaml": "name: chat\nruntime: nodejs\n",
      "tsconfig.json": '{ "compilerOptions": { "module": "commonjs", "moduleResolution": "node" } }',
    });
    await room.run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund"]);
    const before = JSON.parse(await read(room, "package-lock.json")).packages;

    expect(await installPackages(readProject(room.folder), packages)).toEqual([
      'add "esModuleInterop": true to tsconfig.json   # tsc with "moduleResolution": "node" requires it or "skipLibCheck"',
    ]);

    const after = JSON.parse(await read(room, "package-lock.json")).packages;
    for (const [path, { version }] of Object.entries<{ version?: string }>(before))
      if (path !== "") expect(after[path]?.version, path).toBe(version);
    const written = JSON.parse(await read(room, "package.json"));
    expect(written).toMatchObject(manifest);
    const own = ["pulumi-serverless-compute", "serverless-compute-api", "serverless-compute-local"];
    expect(Object.keys(written.dependencies).sort()).toEqual([...Object.keys(dependencies), ...own].sort());
    expect(await read(room, "Pulumi.yaml")).toBe("name: chat\nruntime: nodejs\n");
    const { code, stdout } = await room.run(join("node_modules", ".bin", "serverless-compute-local"), ["--version"]);
    expect([code, stdout.split("\n")[0]]).toEqual([0, "serverless-compute-local 0.1.0"]);
  });

  it("add the plugin to the Pulumi.yaml of a program in another language, without the packages of TypeScript", async () => {
    const settings = "name: chat # the project\nruntime: yaml\nresources: {}\n";
    const room = await projectWith({ "Pulumi.yaml": settings });
    const install = async () => installPackages(readProject(room.folder), packages);
    expect(await install()).toEqual([]);
    const text = await read(room, "Pulumi.yaml");
    expect(text.startsWith(settings)).toBe(true);
    expect(text.slice(settings.length)).toBe(
      "plugins:\n  providers:\n    - name: serverless-compute\n      path: node_modules/pulumi-serverless-compute/bin\n      version: 0.1.0\n",
    );
    expect(existsSync(join(room.folder, "node_modules", "@pulumi"))).toBe(false);
    // npm keeps the format of the new file.
    expect(await read(room, "package.json")).toContain('{\n  "private": true,\n  "dependencies": {\n');
    expect(await install()).toEqual([]);
    expect(await read(room, "Pulumi.yaml")).toBe(text);
  });

  const failures = [
    {
      step: "npm install",
      files: { "package.json": '{"dependencies":{"lost":"file:./lost.tgz"}}', "Pulumi.yaml": "runtime: yaml\n" },
    },
    {
      step: "python -m",
      files: { "Pulumi.yaml": "runtime: python\n", "requirements.txt": "pulumi\n", "sdks/python/setup.py": "old" },
    },
  ];
  it.each(process.env["FULL"] && hasVenv ? failures : failures.slice(0, 1))(
    "leave the project as it was if $step fails",
    async ({ files, step }) => {
      const room = await projectWith({});
      const folder = join(room.folder, "project");
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(folder, name)), { recursive: true });
        await writeFile(join(folder, name), text);
      }
      const before = await readdir(folder, { recursive: true });
      // pip fails, because this folder contains no package.
      const sdk = step === "npm install" ? undefined : join(repository, "docs", "start");
      const error = new RegExp(`${step} failed in `);
      await expect(installPackages(readProject(folder), { ...packages, sdk })).rejects.toThrow(error);
      expect((await readdir(folder, { recursive: true })).sort()).toEqual(before.sort());
      for (const [name, text] of Object.entries(files)) expect(await readFile(join(folder, name), "utf8")).toBe(text);
    },
  );

  const interrupted = [
    { state: "not installed", isInstalled: false, remedy: "" },
    { state: "installed", isInstalled: true, remedy: '; run "npm install" in that folder to repair node_modules' },
  ];
  it.each(process.env["FULL"] ? interrupted : interrupted.slice(0, 1))(
    "leave a project that is $state as it was after Ctrl-C during a download of npm",
    async ({ isInstalled, remedy }) => {
      const room = await projectWith({});
      const folder = join(room.folder, "project");
      const interrupt = new AbortController();
      const registry = await startSilentRegistry("@slow/package", () => interrupt.abort());
      const files = {
        ".npmrc": `@slow:registry=${registry}\n`,
        "package.json": '{"dependencies":{"@slow/package":"1.0.0"}}',
        "Pulumi.yaml": "name: chat\nruntime: yaml\n",
        ...(isInstalled && { "node_modules/own/package.json": '{"name":"own","version":"1.0.0"}' }),
      };
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(folder, name)), { recursive: true });
        await writeFile(join(folder, name), text);
      }
      const args = [join(repository, "scripts/add/add.mjs"), folder];
      const finished = await run(process.execPath, args, { interrupt: interrupt.signal, timeout: 250_000 });
      expect(interrupt.signal.aborted, finished.stderr).toBe(true);
      const message = `${folder}: the installation was interrupted; the project has its previous files${remedy}`;
      expect(finished.stderr.trim().split("\n").at(-1)).toBe(message);
      expect(finished.code).toBe(1);
      const names = [".npmrc", "Pulumi.yaml", "package.json", ...(isInstalled ? ["node_modules"] : [])];
      expect((await readdir(folder)).sort()).toEqual(names.sort());
      for (const name of [".npmrc", "Pulumi.yaml", "package.json"] as const)
        expect(await readFile(join(folder, name), "utf8")).toBe(files[name]);
    },
  );

  const others = [
    { language: "none", sdk: undefined, steps: [], files: [] },
    {
      language: "dotnet",
      sdk: "docs/start",
      steps: ["dotnet add reference ./sdks/dotnet/Pulumi.ServerlessCompute.csproj"],
      files: ["Pulumi.yaml", "sdks"],
    },
    {
      language: "java",
      sdk: "docs/start",
      steps: [
        "add ./sdks/java/src/main/java to the sources of your build, and ./sdks/java/src/main/resources to its resources",
        "add com.pulumi:pulumi 1.x and com.google.code.findbugs:jsr305 3.x to its dependencies",
      ],
      files: ["Pulumi.yaml", "sdks"],
    },
  ];
  if (process.env["FULL"])
    it.each(others)(
      "are installed into an empty folder for the language $language, with the remaining step",
      async ({ language, sdk, steps, files }) => {
        const room = await createCleanRoom(process.execPath);
        onTestFinished(room.remove);
        const folder = join(room.folder, "worker");
        await mkdir(folder);
        const withSdk = { ...packages, sdk: sdk && join(repository, sdk) };
        expect(await installPackages(readProject(folder, language), withSdk)).toEqual(steps);
        const installed = ["node_modules", "package-lock.json", "package.json", "release", ...files];
        expect((await readdir(folder)).sort()).toEqual(installed.sort());
      },
    );
});

/** Examples that readers copy to their projects, with a command that uses the packages. */
const copies = [
  {
    example: "examples/policy",
    command: ["pulumi", "preview", "--policy-pack", "."],
    output: "✅ serverless-compute@v0.1.0",
  },
  { example: "examples/vitest", command: ["npx", "--no", "vitest", "run"], output: "3 passed" },
];

if (process.env["FULL"])
  describe("an example", { timeout: 600_000 }, () => {
    it.each(copies)(
      "works in another place with the packages of a clone: $example",
      async ({ example, command, output }) => {
        const room = await createCleanRoom(process.execPath);
        onTestFinished(room.remove);
        const folder = join(room.folder, "copy");
        const filter = (path: string): boolean => !path.endsWith("node_modules");
        await cp(join(repository, example), folder, { recursive: true, filter });
        expect(await installPackages(readProject(folder), packages)).toEqual([]);
        const path = await usePolicyHost(folder, room);
        const [name = "", ...args] = command;
        const finished = await run(name, args, { cwd: folder, env: { ...room.env, PATH: path }, timeout: 280_000 });
        expect(finished.stdout, finished.stderr).toContain(output);
      },
    );
  });

/** Lets the CLI of this run start a copied policy pack, and makes the pack the program of a stack. Returns the PATH. */
async function usePolicyHost(folder: string, room: CleanRoom): Promise<string | undefined> {
  if (!existsSync(join(folder, "PulumiPolicy.yaml"))) return room.env["PATH"];
  const bin = await writePolicyHost(folder);
  await writeFile(join(folder, "Pulumi.yaml"), "name: empty\nruntime: nodejs\nmain: empty.js\n");
  await writeFile(join(folder, "empty.js"), "");
  await run("pulumi", ["stack", "init", "dev"], { cwd: folder, env: room.env });
  return [bin, room.env["PATH"]].join(delimiter);
}

it.each([
  [[], "Usage: npm run add -- <folder> [--language typescript|python|go|yaml|dotnet|java|none]"],
  [["a", "--lang", "go"], "Usage: npm run add"],
  [["no-such-folder"], "/no-such-folder: does not exist; create it, for example with mkdir"],
])("the command with the arguments %j prints one line", async (args, message) => {
  const { code, stdout, stderr } = await run(process.execPath, [join(repository, "scripts/add/add.mjs"), ...args]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr.trim()).toContain(message);
  expect(stderr.trim().split("\n")).toHaveLength(1);
});
