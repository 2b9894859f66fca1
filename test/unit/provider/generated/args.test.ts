import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const textOf = (file: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../../provider/${file}`, import.meta.url)), "utf8");

it("the package exports the type of every argument", () => {
  const names = [...textOf("generated/args.ts").matchAll(/^export \w+ (\w+Args)\b/gm)].map(([, name]) => name);
  const exported = textOf("index.ts").match(/\w+Args\b/g);
  expect(names.filter((name) => !exported?.includes(name ?? ""))).toEqual([]);
});
