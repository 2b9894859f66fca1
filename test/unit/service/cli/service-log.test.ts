import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openLog } from "../../../../service/log";

const apiKey = "the-key-of-this-test";
function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), "service-log-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
const open = (dataFolder: string, maxBytes?: number) => openLog({ dataFolder, logLevel: "info" }, apiKey, maxBytes);
const told = (file: string): string[] =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => String(JSON.parse(line).msg));

test("service.log is rotated when it is full, with two older files", () => {
  const folder = folderOf();
  const { log, close } = open(folder, 1000);
  for (let at = 0; at < 100; at++) log.info(`line ${at}`);
  close();
  expect(readdirSync(folder).sort()).toEqual(["service.log", "service.log.1", "service.log.2"]);
  const files = ["service.log.2", "service.log.1", "service.log"].map((name) => join(folder, name));
  for (const file of files) {
    expect(statSync(file).size).toBeLessThanOrEqual(1000);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  }
  const lines = files.flatMap(told);
  // Three files of a kilobyte, whose lines have some hundred bytes.
  expect(lines.length).toBeGreaterThan(12);
  expect(lines).toEqual(Array.from({ length: lines.length }, (_, at) => `line ${100 - lines.length + at}`));
});

test("service.log continues an earlier service's file and its size", () => {
  const folder = folderOf();
  for (const line of ["first", "second"]) {
    const { log, close } = open(folder);
    log.info(line);
    close();
  }
  expect(told(join(folder, "service.log"))).toEqual(["first", "second"]);
  const { log, close } = open(folder, 200);
  log.info("third");
  close();
  expect(told(join(folder, "service.log.1"))).toEqual(["first", "second"]);
  expect(told(join(folder, "service.log"))).toEqual(["third"]);
});

test("the key is in no line, and a line after the end is not an error", () => {
  const folder = folderOf();
  const { log, close } = open(folder);
  log.info({ url: `/graphql?api_key=${apiKey}` }, `used ${apiKey}`);
  close();
  log.info("late");
  expect(told(join(folder, "service.log"))).toEqual(["used [secret]"]);
  expect(readFileSync(join(folder, "service.log"), "utf8")).not.toContain(apiKey);
});

test("an unwritable service.log is not an error", () => {
  const folder = folderOf();
  symlinkSync("/dev/full", join(folder, "service.log"));
  const { log, close } = open(folder);
  expect(() => log.info("lost")).not.toThrow();
  close();
});
