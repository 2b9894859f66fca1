import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openLog } from "../../../../service/log";
import { scratchFolder } from "../../../support/folders";

test("the key is in no line, and a line after the end is not an error", () => {
  const apiKey = "the-key-of-this-test";
  const dataFolder = scratchFolder();
  const { log, close } = openLog({ dataFolder, logLevel: "info" }, apiKey);
  log.info({ url: `/graphql?api_key=${apiKey}` }, `used ${apiKey}`);
  close();
  log.info("late");
  const text = readFileSync(join(dataFolder, "service.log"), "utf8");
  // One line of JSON.
  expect(JSON.parse(text)).toMatchObject({ msg: "used [secret]" });
  expect(text).not.toContain(apiKey);
});
