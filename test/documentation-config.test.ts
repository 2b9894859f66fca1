import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readPages } from "../scripts/docs/pages.mjs";

const repository = fileURLToPath(new URL("..", import.meta.url));

const readText = (...path: string[]): Promise<string> => readFile(join(repository, ...path), "utf8");

/** Declarations of values that the CLI requires, by key: those without a value of their own. */
const requiredIn = (settings: { config?: Record<string, object> } | null): [string, { secret?: boolean }][] =>
  Object.entries(settings?.config ?? {}).filter(([, declared]) => !("default" in declared || "value" in declared));

/** Programs of the repository whose stacks require values: folder of Pulumi.yaml, folder of the program, and the values. */
const programs = [
  { project: ".", program: "examples/quickstart", secrets: ["hubToken"], values: [] },
  { project: "examples/private-registry", secrets: ["registryPassword"], values: ["registryUser"] },
  { project: "examples/python", secrets: ["hubToken"], values: [] },
  { project: "examples/two-accounts", secrets: ["eastKey", "westKey"], values: [] },
  { project: "examples/typescript-plugin", secrets: ["hubToken"], values: [] },
];

test.each(programs)(
  "$project declares the values that its program requires, and its README sets them",
  async ({ project, program = project, secrets, values }) => {
    const declared = requiredIn(parse(await readText(project, "Pulumi.yaml")));
    expect(declared.map(([key]) => key).sort()).toEqual([...secrets, ...values].sort());
    for (const [key, { secret = false }] of declared) expect(secret, key).toBe(secrets.includes(key));
    // The quickstart's script sets the value.
    if (project === ".") return;
    const readme = await readText(program, "README.md");
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

test("the pages include the README and some guides", () => {
  expect(pages.map(({ path }) => path)).toEqual(expect.arrayContaining(["README.md", "docs/guides/secrets.md"]));
});

test.each(pages)(
  "$path declares the values that its program requires, and sets them",
  async ({ path, keys, settings }) => {
    const declared = settings.flatMap(requiredIn).map(([key]) => key);
    expect(declared).toEqual(expect.arrayContaining(keys));
    const text = await readText(path);
    for (const key of keys) expect(text).toMatch(new RegExp(`pulumi config set (--secret )?${key}\\b`));
  },
);
