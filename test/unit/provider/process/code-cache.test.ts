import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CachePlace, cachePlace, readCache, writeCache } from "../../../../provider/process/code-cache";

const me = process.getuid?.() ?? 0;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "code-cache-"));
  mkdirSync(join(folder, "one"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const place = (owners = [me]): CachePlace => ({ folder: join(folder, "one"), file: "a.cache", owners });
const data = Buffer.from("compiled");

describe("a code cache", () => {
  it("is writable by its owner only, and is read again", () => {
    writeCache(place(), data);
    expect(readCache(place())).toEqual(data);
    expect(statSync(join(folder, "one", "a.cache")).mode & 0o777).toBe(0o644);
    expect(readdirSync(join(folder, "one"))).toEqual(["a.cache"]);
  });

  it("is ignored if others can write it", () => {
    writeCache(place(), data);
    for (const mode of [0o664, 0o646]) {
      chmodSync(join(folder, "one", "a.cache"), mode);
      expect(readCache(place())).toBeUndefined();
    }
  });

  it("is ignored if another user owns it", () => {
    writeCache(place(), data);
    expect(readCache(place([me + 1]))).toBeUndefined();
  });

  it("is ignored behind a symbolic link", () => {
    writeFileSync(join(folder, "real"), data);
    symlinkSync(join(folder, "real"), join(folder, "one", "a.cache"));
    expect(readCache(place())).toBeUndefined();
  });

  it("is not written to a folder that others can write", () => {
    chmodSync(join(folder, "one"), 0o777);
    writeCache(place(), data);
    expect(readdirSync(join(folder, "one"))).toEqual([]);
  });

  it("is skipped without a failure if the folder is missing", () => {
    rmSync(join(folder, "one"), { recursive: true });
    expect(() => writeCache(place(), data)).not.toThrow();
    expect(readCache(place())).toBeUndefined();
  });

  it("is specific to the text, the Node version and the processor", () => {
    writeFileSync(join(folder, "plugin.js"), "");
    expect(cachePlace(join(folder, "plugin.js"), "0123456789abcdef-and-more")).toMatchObject({
      folder,
      file: expect.stringContaining(`0123456789abcdef-${process.version}-`),
    });
  });
});
