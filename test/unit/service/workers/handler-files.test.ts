import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { resolveFiles, sourceFileOf } from "../../../../service/workers/handler-files";
import { scratchFolder } from "../../../support/folders";

test("relative files of a command are resolved in a folder, and must exist", () => {
  const folder = scratchFolder();
  for (const name of ["run", "my handler.py"]) writeFileSync(join(folder, name), "");
  expect(resolveFiles(["./run", "-u", "my handler.py", "./data"], folder)).toEqual([
    join(folder, "run"),
    "-u",
    join(folder, "my handler.py"),
    "./data",
  ]);
  expect(resolveFiles(["python3", "-m", "worker"], folder)).toEqual(["python3", "-m", "worker"]);
  for (const words of [["./my", "handler.py"], ["python3", "absent.py"], ["absent.mjs"], ["./venv/bin/python"]])
    expect(() => resolveFiles(words, folder)).toThrow(
      /^the file \S+ does not exist; specify an existing file, in quotes if its path contains spaces$/,
    );
});

test("the source file of an image is its handler, or the first source file in its command", () => {
  const images = {
    a: "/h/a.mjs",
    "f:2": "/h/f.ts",
    g: "'",
    b: "python3 -u '/h/my handler.py' --fast",
    c: "node --import tsx c.ts",
    d: "python3 -m d",
  };
  expect(["a:1", "b", "c", "d", "e", "f:2", "g"].map((image) => sourceFileOf(images, image))).toEqual([
    "/h/a.mjs",
    "/h/my handler.py",
    resolve("c.ts"),
    undefined,
    undefined,
    "/h/f.ts",
    undefined,
  ]);
});

test("an image named like a built-in property has no source file", () => {
  for (const image of ["constructor", "toString:1", "__proto__"]) expect(sourceFileOf({}, image)).toBeUndefined();
});

test("the time to parse an image name grows linearly with its length", () => {
  const startTime = performance.now();
  for (const mark of ["@", ":"]) sourceFileOf({ a: "b" }, `${mark.repeat(1_000_000)}/a`);
  // Linear steps take 0.02 s on an idle machine, quadratic steps minutes.
  expect(performance.now() - startTime).toBeLessThan(10_000);
});
