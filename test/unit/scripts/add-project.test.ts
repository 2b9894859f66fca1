import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { compilerSteps, projectName, readProject } from "../../../scripts/add/project.mjs";
import { root } from "../../../scripts/entry.mjs";
import { scratchFolder } from "../../support/folders";

/** Creates a folder with these files. */
function folderWith(files: Record<string, string>): string {
  const folder = scratchFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const nodejs = { "Pulumi.yaml": "name: chat\nruntime: nodejs\n" };
const requiring = (range: string, section = "dependencies") => ({
  ...nodejs,
  "package.json": JSON.stringify({ [section]: { "@pulumi/pulumi": range } }),
});
const installed = (version: string) => ({
  ...requiring("^3.0.0"),
  "node_modules/@pulumi/pulumi/package.json": JSON.stringify({ version }),
});
const locked = (version: string) => ({
  ...requiring("^3.0.0"),
  "package-lock.json": JSON.stringify({ packages: { "node_modules/@pulumi/pulumi": { version } } }),
});
const tooOld = (version: string): string =>
  `@pulumi/pulumi is ${version}, but 3.200.0 or later is required; run "npm install @pulumi/pulumi@3" in that folder`;

test.each(["chat", "2026", "2026-11-29", "1e3", "true", "null", "go"])(
  "the name of a new project in %s is a string",
  (name) => expect(parse(projectName(join("/projects", name)))).toBe(name),
);

describe("a folder for the packages", () => {
  test.each<[string, Record<string, string>, string | undefined, object]>([
    ["an empty folder", {}, undefined, { language: "typescript", isNew: true }],
    ["an empty repository", { ".git/HEAD": "", ".gitignore": "" }, "python", { language: "python", isNew: true }],
    ["a project in TypeScript", nodejs, undefined, { language: "typescript", isNew: false }],
    ["a project with options", { "Pulumi.yaml": "runtime:\n  name: python\n" }, undefined, { language: "python" }],
    ["a project in YAML", { "Pulumi.yaml": 'runtime: "yaml"\n' }, "yaml", { language: "yaml" }],
    ["a policy pack", { "PulumiPolicy.yaml": "runtime: nodejs\n" }, undefined, { language: "typescript" }],
    ["tests without a project", { "package.json": "{}" }, undefined, { language: "typescript", isNew: false }],
    ["a newer Pulumi", installed("3.200.0"), undefined, { language: "typescript" }],
    ["a range with newer versions", requiring("^3.113.0"), undefined, { language: "typescript" }],
    ["a range of majors", requiring("3", "devDependencies"), undefined, { language: "typescript" }],
    ["an empty folder without a program", {}, "none", { language: "none", isNew: true }],
    ["npm as package manager", { "package.json": '{"packageManager":"npm@11.0.0"}' }, undefined, {}],
  ])("can be %s", (_, files, language, expected) => {
    expect(readProject(folderWith(files), language)).toMatchObject(expected);
  });

  test.each<[string, Record<string, string>, string | undefined, string]>([
    [
      "files of another kind",
      { "main.tf": "" },
      undefined,
      "is not a Pulumi project, because it contains no Pulumi.yaml",
    ],
    [
      "an unknown language",
      nodejs,
      "rust",
      "--language rust: is unknown; use one of typescript, python, go, yaml, dotnet, java, none",
    ],
    ["a property of every object as language", {}, "toString", "--language toString: is unknown"],
    ["another language", nodejs, "go", "--language go: "],
    [
      "an unknown runtime",
      { "Pulumi.yaml": "runtime: cobol\n" },
      undefined,
      "there is no package for the runtime cobol",
    ],
    [
      "pnpm",
      { ...nodejs, "pnpm-lock.yaml": "" },
      undefined,
      'set serverless-compute-api to "file:<its .tgz file>" in the overrides of pnpm-workspace.yaml, and add',
    ],
    ["yarn", { ...nodejs, "yarn.lock": "" }, undefined, "in the resolutions of package.json"],
    ["bun", { ...nodejs, "bun.lock": "" }, undefined, "in the overrides of package.json"],
    ["a named package manager", { "package.json": '{"packageManager":"yarn@4.5.0"}' }, undefined, "uses yarn, but"],
    [
      "a package manager of the runtime",
      { "Pulumi.yaml": "runtime:\n  name: nodejs\n  options:\n    packagemanager: pnpm\n" },
      undefined,
      "uses pnpm, but",
    ],
    ["an invalid package.json", { ...nodejs, "package.json": "{" }, undefined, "is not valid JSON; correct it first"],
    ["an installed Pulumi that is too old", installed("3.199.0"), undefined, tooOld("3.199.0")],
    ["a locked Pulumi that is too old", locked("3.113.2"), undefined, tooOld("3.113.2")],
    ["a pinned Pulumi that is too old", requiring("3.150.0"), undefined, tooOld("3.150.0")],
    ["a minor range that is too old", requiring("~3.150.0"), undefined, tooOld("~3.150.0")],
    ["a major that is too old", requiring("^2.25.0", "devDependencies"), undefined, tooOld("^2.25.0")],
  ])("is rejected in one sentence with %s", (_, files, language, message) => {
    expect(() => readProject(folderWith(files), language)).toThrow(message);
  });

  test("is rejected if it does not exist, is a file, or is the clone", () => {
    const folder = folderWith({ "Pulumi.yaml": "" });
    expect(() => readProject(join(folder, "missing"))).toThrow("missing: does not exist; create it");
    expect(() => readProject(join(folder, "Pulumi.yaml"))).toThrow("is a file; name the project's folder");
    expect(() => readProject(root)).toThrow("is this clone; name the folder of your own project");
  });

  test("is rejected in a workspace of pnpm", () => {
    const workspace = folderWith({
      "pnpm-lock.yaml": "",
      "pnpm-workspace.yaml": "",
      "infra/Pulumi.yaml": "runtime: nodejs\n",
    });
    expect(() => readProject(join(workspace, "infra"))).toThrow("infra: uses pnpm (pnpm-lock.yaml)");
  });

  test("is checked against the peer range of the npm package", () => {
    const { peerDependencies } = JSON.parse(readFileSync(join(root, "provider", "package.json"), "utf8"));
    expect(peerDependencies["@pulumi/pulumi"]).toBe("^3.200.0");
  });
});

const nodeResolution = { "tsconfig.json": '{"compilerOptions":{"moduleResolution":"Node"}}' };
test.each<[string, Record<string, string>, number]>([
  ["with resolution node", { ...nodejs, ...nodeResolution }, 1],
  ["with resolution node10", { ...nodejs, "tsconfig.json": '{"compilerOptions":{"moduleResolution" : "node10"}}' }, 1],
  ["with resolution node16", { ...nodejs, "tsconfig.json": '{"compilerOptions":{"moduleResolution":"node16"}}' }, 0],
  ["without a tsconfig.json", nodejs, 0],
  ["in another language", { "Pulumi.yaml": "runtime: yaml\n", ...nodeResolution }, 0],
  ...["esModuleInterop", "skipLibCheck"].map((option): [string, Record<string, string>, number] => [
    `with ${option}`,
    { ...nodejs, "tsconfig.json": `{"compilerOptions":{"moduleResolution":"node","${option}": true}}` },
    0,
  ]),
])("a project %s has the steps for tsc that it requires", (_what, files, count) => {
  expect(compilerSteps(readProject(folderWith(files)))).toHaveLength(count);
});
