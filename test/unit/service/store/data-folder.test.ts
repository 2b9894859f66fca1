import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ownNames } from "../../../../service/store/data-folder";

test("the page about the service lists every file and folder of a data folder", () => {
  const page = readFileSync(new URL("../../../../docs/service.md", import.meta.url), "utf8");
  const table = /\n\| file or folder \|[^\n]*\n\|---\|---\|\n((?:\|[^\n]*\n)+)/.exec(page)?.[1] ?? "";
  const listed = table.split("\n").flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)]);
  const names = listed
    .map(([, path = ""]) => path.replace(/\/.*|\.<.*/, ""))
    .filter((name) => !/^(?:-|\.\d)/.test(name));
  expect([...new Set(names)].sort()).toEqual(Object.keys(ownNames).sort());
});
