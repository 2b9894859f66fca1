import { resolve } from "node:path";
import { expect, test } from "vitest";
import { handlerFileOf, sourceFileOf } from "../../../../service/workers/handler-files";

test("the handler file of an image is its command if the command is a single file", () => {
  const images = { "a:1": "/h/a.mjs", b: "/h/b.ts", c: "node c.mjs", d: "'", e: "python3" };
  expect(["a:1", "b:7", "c", "d", "e", "f"].map((image) => handlerFileOf(images, image))).toEqual([
    "/h/a.mjs",
    "/h/b.ts",
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test("the source file of an image is its handler, or the first source file in its command", () => {
  const images = {
    a: "/h/a.mjs",
    b: "python3 -u '/h/my handler.py' --fast",
    c: "node --import tsx c.ts",
    d: "python3 -m d",
  };
  expect(["a:1", "b", "c", "d", "e"].map((image) => sourceFileOf(images, image))).toEqual([
    "/h/a.mjs",
    "/h/my handler.py",
    resolve("c.ts"),
    undefined,
    undefined,
  ]);
});

test("an image named like a built-in property has no handler file", () => {
  for (const image of ["constructor", "toString:1", "__proto__"]) expect(handlerFileOf({}, image)).toBeUndefined();
});

test("an image name of a million characters is parsed within a second of CPU time", () => {
  const started = process.cpuUsage();
  for (const mark of ["@", ":"]) handlerFileOf({ a: "b" }, `${mark.repeat(1_000_000)}/a`);
  expect(process.cpuUsage(started).user / 1000, "ms of CPU time").toBeLessThan(1000);
});
