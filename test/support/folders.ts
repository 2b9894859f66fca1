import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { discardServiceFolder } from "./service-artefacts";

/** Registers work for the end of a test (`onTestFinished`) or of a file (`afterAll`); the last registered work runs first. */
export type AtEnd = (work: () => void | Promise<void>) => void;

/** Creates a folder that its caller removes. */
export const newFolder = (parent = tmpdir()): string => mkdtempSync(join(parent, "serverless-compute-test-"));

/** Creates a folder that is removed at the end; `parent` is for modules that must be found from it. */
export function scratchFolder(atEnd: AtEnd = onTestFinished, parent?: string): string {
  const folder = newFolder(parent);
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Creates a folder for the data of services. At the end, it is removed; a secret outside the secret store is a failure. */
export function serviceFolder(atEnd: AtEnd = onTestFinished): string {
  const folder = newFolder();
  atEnd(() => discardServiceFolder(folder));
  return folder;
}
