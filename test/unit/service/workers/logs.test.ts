import { readFileSync, statSync, symlinkSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { createLogFile } from "../../../../service/workers/logs";
import { scratchFolder } from "../../../support/folders";

test("lines are written in order by the end of the turn, to a file that only its owner can read", async () => {
  const file = join(scratchFolder(), "logs", "a.log");
  const log = createLogFile(file);
  for (let at = 0; at < 1000; at++) log.write(`line ${at}`);
  await setImmediate();
  expect(readFileSync(file, "utf8").split("\n").slice(0, 1000)).toEqual(
    Array.from({ length: 1000 }, (_, at) => `line ${at}`),
  );
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("two full files are kept, as .1 and .2", async () => {
  const folder = scratchFolder();
  const log = createLogFile(join(folder, "a.log"), 100);
  for (const letter of "abcdefg") {
    log.write(letter.repeat(80));
    log.flush();
  }
  expect((await readdir(folder)).sort()).toEqual(["a.log", "a.log.1", "a.log.2"]);
  const first = (name: string) => readFileSync(join(folder, name), "utf8").charAt(0);
  expect(["a.log", "a.log.1", "a.log.2"].map(first)).toEqual(["g", "f", "e"]);
});

test("a log appends to an earlier service's file", () => {
  const file = join(scratchFolder(), "a.log");
  for (const line of ["first", "second"]) {
    const log = createLogFile(file);
    log.write(line);
    log.flush();
  }
  expect(readFileSync(file, "utf8")).toBe("first\nsecond\n");
});

test("an unwritable log is not an error", () => {
  const file = join(scratchFolder(), "a.log");
  symlinkSync("/dev/full", file);
  const log = createLogFile(file);
  log.write("lost");
  log.flush();
  expect(statSync(file).isCharacterDevice()).toBe(true);
});

test("removal includes the older files", async () => {
  const folder = scratchFolder();
  const log = createLogFile(join(folder, "a.log"), 10);
  for (let at = 0; at < 5; at++) {
    log.write("0123456789");
    log.flush();
  }
  log.remove();
  expect(await readdir(folder)).toEqual([]);
});
