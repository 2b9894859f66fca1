import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { StartError } from "../../../../service/errors";
import { apiKeyFileOf, ensureApiKey, isApiKey, readApiKey, readApiKeyFile } from "../../../../service/store/api-key";
import { scratchFolder } from "../../../support/folders";

const shortest = "!".repeat(16);

test.each([
  [shortest, true],
  ["~".repeat(300), true],
  ["!".repeat(15), false],
  [`${shortest} `, false],
  [` ${shortest}`, false],
  [`${"a".repeat(16)}é`, false],
  [`${"a".repeat(8)}\n${"a".repeat(8)}`, false],
])("%j is a valid key: %s", (text, expected) => expect(isApiKey(text)).toBe(expected));

test("a new folder has no key; the first call generates one of 256 bits, and the next calls return it", () => {
  const folder = scratchFolder();
  expect(readApiKey(folder)).toBeUndefined();
  const key = ensureApiKey(folder, undefined);
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  expect(ensureApiKey(folder, undefined)).toBe(key);
  expect(readApiKey(folder)).toBe(key);
  expect(ensureApiKey(scratchFolder(), undefined)).not.toBe(key);
});

test.each([
  ["another key replaces the key of the folder", "b".repeat(16)],
  ["the same key keeps it", "a".repeat(16)],
])("%s, and only its owner can read it", (_title, configured) => {
  const folder = scratchFolder();
  writeFileSync(apiKeyFileOf(folder), `${"a".repeat(16)}\n`, { mode: 0o644 });
  expect(ensureApiKey(folder, configured)).toBe(configured);
  expect(readFileSync(apiKeyFileOf(folder), "utf8")).toBe(`${configured}\n`);
  expect(statSync(apiKeyFileOf(folder)).mode & 0o777).toBe(0o600);
});

test("a folder's key that is not a file, or is not a key, is an error that names the file and not its content", () => {
  const folder = scratchFolder();
  const file = apiKeyFileOf(folder);
  mkdirSync(file);
  expect(() => readApiKey(folder)).toThrow(`${file}: is not a file; delete it to get a new key`);
  const other = scratchFolder();
  writeFileSync(apiKeyFileOf(other), "short-secret");
  expect(() => readApiKey(other)).toThrow(
    new StartError(
      `${apiKeyFileOf(other)} does not contain an API key of 16 or more printable characters; delete the file to get a new key`,
    ),
  );
});

test.each([
  [
    "a folder that is a file",
    (folder: string) => writeFileSync(folder, ""),
    "is a file, below a file or a broken link",
  ],
  [
    "a key that is a link to itself",
    (folder: string) => {
      mkdirSync(folder);
      symlinkSync("api-key", apiKeyFileOf(folder));
    },
    "is a file, below a file or a broken link",
  ],
])("%s is an error that names the folder and the remedy", (_title, create, message) => {
  const folder = join(scratchFolder(), "data");
  create(folder);
  for (const read of [() => readApiKey(folder), () => ensureApiKey(folder, undefined)])
    expect(read).toThrow(new StartError(`${folder}: ${message}; specify a folder`));
});

test("--api-key-file reads a key without the white space around it, and names a file that has none", () => {
  const file = join(scratchFolder(), "key");
  expect(() => readApiKeyFile(file)).toThrow(
    `--api-key-file ${file}: cannot be read (ENOENT); specify an existing file`,
  );
  writeFileSync(file, `  ${shortest}\n`);
  expect(readApiKeyFile(file)).toBe(shortest);
  writeFileSync(file, "two words of text");
  expect(() => readApiKeyFile(file)).toThrow(
    `--api-key-file ${file}: does not contain an API key; write 16 or more printable characters without spaces into it`,
  );
});
