import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { parse, stringify } from "yaml";
import { readPages } from "../../scripts/docs/pages.mjs";
import { createCleanRoom } from "../packages/support/clean-room";
import { repository } from "./support/sdk";

/** Programs of the repository whose stacks require values: folder of Pulumi.yaml, folder of the program, and the values. */
const programs = [
  { project: ".", program: "examples/quickstart", secrets: ["hubToken"], values: [] },
  { project: "examples/private-registry", secrets: ["registryPassword"], values: ["registryUser"] },
  { project: "examples/python", secrets: ["hubToken"], values: [] },
  { project: "examples/two-accounts", secrets: ["eastKey", "westKey"], values: [] },
  { project: "examples/typescript-plugin", secrets: ["hubToken"], values: [] },
];

it.each(programs)(
  "a deployment of $project without the values it requires fails before its program starts",
  async ({ project, program = project, secrets, values }) => {
    const settings = await readFile(join(repository, project, "Pulumi.yaml"), "utf8");
    const declared = Object.entries<{ secret?: boolean }>(parse(settings).config ?? {});
    expect(declared.map(([key]) => key).sort()).toEqual([...secrets, ...values].sort());
    for (const [key, { secret = false }] of declared) expect(secret, key).toBe(secrets.includes(key));

    await expectFailure(settings, [...secrets, ...values]);

    // The quickstart's script sets the value.
    if (project === ".") return;
    const readme = await readFile(join(repository, program, "README.md"), "utf8");
    for (const key of secrets) expect(readme).toContain(`pulumi config set --secret ${key}`);
    for (const key of values) expect(readme).toContain(`pulumi config set ${key}`);
  },
);

/** Pages with programs in TypeScript that require values. The reference and imports have a program in several languages each. */
const pages = readPages(repository)
  .filter(({ path }) => /^(README\.md|docs\/(?!resources\/|guides\/adopt-and-import))/.test(path))
  .map(({ path, blocks }) => ({
    path,
    keys: blocks
      .filter(({ language }) => language === "ts")
      .flatMap(({ text }) => [...text.matchAll(/config\.require(?:Secret)?\("(\w+)"\)/g)].map(([, key = ""]) => key)),
    settings: blocks.filter(({ language }) => language === "yaml").map(({ text }) => parse(text)),
  }))
  .filter(({ keys }) => keys.length > 0);

it("the pages include the README and some guides", () => {
  expect(pages.map(({ path }) => path)).toEqual(expect.arrayContaining(["README.md", "docs/guides/secrets.md"]));
});

it.each(pages)(
  "a deployment of the program of $path without the values it requires fails before it starts",
  async ({ path, keys, settings }) => {
    const config = Object.assign({}, ...settings.map((file) => file?.config ?? {}));
    await expectFailure(stringify({ name: "chat", runtime: "nodejs", config }), keys);
    const text = await readFile(join(repository, path), "utf8");
    for (const key of keys) expect(text).toMatch(new RegExp(`pulumi config set (--secret )?${key}\\b`));
  },
);

/** Expects that a preview of a project fails because of these values. No program exists: the CLI must not look for one. */
async function expectFailure(settings: string, keys: string[]): Promise<void> {
  const room = await createCleanRoom(process.execPath);
  onTestFinished(room.remove);
  await room.write("Pulumi.yaml", settings);
  expect((await room.run("pulumi", ["stack", "init", "dev", "--non-interactive"])).code).toBe(0);
  const { code, stdout, stderr } = await room.run("pulumi", ["preview", "--non-interactive"]);
  expect(code).not.toBe(0);
  expect(stderr).toMatch(/Stack 'dev' is missing configuration values? /);
  for (const key of keys) expect(stderr).toContain(`'${key}'`);
  expect(stdout).not.toContain("Previewing");
}
