import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { codeOf, notFound } from "../errors";

/** The folder of the page's files: next to this file, or for the build in the sources. */
const folder = [join(__dirname, "page"), join(__dirname, "..", "..", "console", "page")].find(existsSync) ?? "";

const contentTypes: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Reads a file of the page by its name, with its content type; throws a ServiceError `missing` for any other name. */
export async function readPageFile(name: string): Promise<{ type: string; content: Buffer }> {
  const type = contentTypes[extname(name)];
  // Names with a folder are rejected, so that no path leaves the page's folder.
  if (type === undefined || !/^[a-z][a-z-]*\.[a-z]+$/.test(name)) throw notFound("file", name);
  try {
    return { type, content: await readFile(join(folder, name)) };
  } catch (error) {
    if (codeOf(error) === "ENOENT") throw notFound("file", name);
    throw error;
  }
}
