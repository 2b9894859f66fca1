import { appendFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { createLogTail, type LogTail } from "../../../../service/workers/log-tail";
import { createLogFile, type LogFile } from "../../../../service/workers/logs";
import { scratchFolder } from "../../../support/folders";

let file: string;
let log: LogFile;
let tail: LogTail;
beforeEach(() => {
  file = join(scratchFolder(), "a.log");
  // A file contains three lines of ten characters.
  log = createLogFile(file, 30);
  tail = createLogTail(file);
  onTestFinished(() => tail.close());
});

/** The new lines of all parts. */
async function readNew(): Promise<string[]> {
  const parts: string[][] = [];
  for await (const part of tail.newLines()) parts.push(part);
  return parts.flat();
}

/** Writes `line-0000` and so on, one write per line; a write is never split. */
function write(from: number, to: number): string[] {
  const lines = Array.from({ length: to - from }, (_, at) => `line-${String(from + at).padStart(4, "0")}`);
  for (const line of lines) {
    log.write(line);
    log.flush();
  }
  return lines;
}

test("a missing log has no lines, and its first line is reported later", async () => {
  expect(await tail.readLast(10)).toEqual([]);
  expect(await readNew()).toEqual([]);
  expect(await readNew()).toEqual(write(0, 0));
  const lines = write(0, 2);
  expect(await readNew()).toEqual(lines);
});

test("a log that cannot be opened is an error", async () => {
  writeFileSync(file, "");
  await expect(createLogTail(join(file, "a.log")).readLast(1)).rejects.toThrow("ENOTDIR");
});

test("the last lines include older files, up to the requested number", async () => {
  const lines = write(0, 8);
  expect(await tail.readLast(5)).toEqual(lines.slice(-5));
});

test("a log without its newest file is reported once", async () => {
  writeFileSync(`${file}.1`, "old\n");
  expect(await tail.readLast(10)).toEqual(["old"]);
  const lines = write(0, 1);
  expect(await readNew()).toEqual(lines);
});

test("zero past lines are followed by all new lines", async () => {
  write(0, 2);
  expect(await tail.readLast(0)).toEqual([]);
  const lines = write(2, 4);
  expect(await readNew()).toEqual(lines);
});

test.each([1, 2, 4, 6])(
  "nothing is lost or repeated when the file rotates between reads (%i lines a read)",
  async (step) => {
    const reported = await tail.readLast(10);
    const written: string[] = [];
    for (let at = 0; at < 48; at += step) {
      written.push(...write(at, at + step));
      reported.push(...(await readNew()));
    }
    expect(reported).toEqual(written);
  },
);

test("a log that rotated beyond its files continues with the oldest remaining line", async () => {
  write(0, 1);
  await tail.readLast(1);
  const lines = write(1, 31);
  const reported = await readNew();
  // The open file, a gap, and the three remaining files.
  const remaining = reported.length - 2;
  expect(remaining).toBeGreaterThanOrEqual(7);
  expect(reported).toEqual([...lines.slice(0, 2), ...lines.slice(-remaining)]);
});

test("a slow reader of a long log receives a small part of it at a time", async () => {
  await tail.readLast(0);
  const line = "x".repeat(99);
  writeFileSync(file, `${line}\n`.repeat(50_000));
  const [sizes, lines] = [[] as number[], [] as string[]];
  for await (const part of tail.newLines()) {
    sizes.push(part.length);
    lines.push(...part);
  }
  expect(lines).toHaveLength(50_000);
  expect(new Set(lines)).toEqual(new Set([line]));
  expect(Math.max(...sizes)).toBeLessThan(1_000);
});

test("a line is reported once it is complete or its file ends", async () => {
  writeFileSync(file, "whole\nbeg");
  expect([await tail.readLast(5), tail.unfinishedLine()]).toEqual([["whole"], "beg"]);
  appendFileSync(file, "un\nhal");
  expect(await readNew()).toEqual(["begun"]);
  renameSync(file, `${file}.1`);
  writeFileSync(file, "new\n");
  expect(await readNew()).toEqual(["hal", "new"]);
});
