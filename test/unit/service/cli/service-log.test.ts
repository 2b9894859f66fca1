import { mkdtempSync, readFileSync, rmSync } from "node:fs";
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
const readMessages = (file: string): string[] =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => String(JSON.parse(line).msg));

test("the key is in no line, and a line after the end is not an error", () => {
  const folder = folderOf();
  const { log, close } = open(folder);
  log.info({ url: `/graphql?api_key=${apiKey}` }, `used ${apiKey}`);
  close();
  log.info("late");
  expect(readMessages(join(folder, "service.log"))).toEqual(["used [secret]"]);
  expect(readFileSync(join(folder, "service.log"), "utf8")).not.toContain(apiKey);
});
