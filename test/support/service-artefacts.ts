import { readdir, readFile, rm } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { expect } from "vitest";
import { z } from "zod";
import { unknownNames } from "../../service/store/data-folder";
import { readStore } from "../../service/store/database";
import { type Artefact, expectNoSecretIn, registerSecret } from "./secret-scan";

/** The only places where the service stores secrets: two tables and its key file. */
const secretTables = { secrets: "value", registry_auths: "password" } as const;
const keyFile = "api-key";

const anyRow = z.record(z.string(), z.unknown());
const textOfBytes = (_key: string, value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value;

/** Registers the secrets that a service currently stores. */
async function registerStoredSecrets(dataFolder: string): Promise<void> {
  const key = await readFile(join(dataFolder, keyFile), "utf8").catch(() => "");
  registerSecret(key.trim(), "the API key");
  for (const [table, column] of Object.entries(secretTables)) {
    const rows = readStore(dataFolder, `SELECT ${column} AS secret FROM ${table}`, z.object({ secret: z.string() }));
    for (const { secret } of rows ?? []) registerSecret(secret, "a secret value");
  }
}

/** A reaper deletes its own file after the end of its last worker, possibly after the folder was listed. */
function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
}

/** Files of the service, except its secret store: logs, other files, and tables by row. */
export async function serviceArtefacts(dataFolder: string): Promise<Artefact[]> {
  const entries = await readdir(dataFolder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const publicPaths = paths.filter((path) => !/(^|[\\/])(service\.db[^\\/]*|api-key)$/.test(path));
  const files = publicPaths.map(async (path): Promise<Artefact[]> => {
    const text = await readFile(path, "latin1").catch(ignoreMissing);
    return text === undefined ? [] : [[relative(dataFolder, path), text]];
  });
  const tableShape = z.object({ name: z.string() });
  const tables = readStore(dataFolder, "SELECT name FROM sqlite_master WHERE type = 'table'", tableShape) ?? [];
  const rows = tables
    .filter(({ name }) => !Object.hasOwn(secretTables, name))
    .map(({ name }): Artefact => {
      const all = readStore(dataFolder, `SELECT * FROM "${name}"`, anyRow);
      return [`table ${name}`, JSON.stringify(all, textOfBytes)];
    });
  return [...(await Promise.all(files)).flat(), ...rows];
}

/** The last 4,000 characters of each log of a service, for the report of a failed test. */
export async function logTails(dataFolder: string): Promise<string> {
  const files = (await readdir(dataFolder, { recursive: true })).filter((file) => file.endsWith(".log"));
  const tails = files.map(
    async (file) => `--- ${file}\n${(await readFile(join(dataFolder, file), "utf8")).slice(-4000)}`,
  );
  return (await Promise.all(tails)).join("\n");
}

/** The data folders at or below a folder. */
async function dataFoldersIn(folder: string): Promise<string[]> {
  const paths = await readdir(folder, { recursive: true });
  return paths.filter((path) => basename(path) === "service.db").map((path) => dirname(join(folder, path)));
}

/**
 * Removes a folder with the data folders of stopped services; fails if one of them wrote a secret outside its secret store, or a
 * file with an unknown name.
 */
export async function discardServiceFolder(folder: string): Promise<void> {
  try {
    const dataFolders = await dataFoldersIn(folder);
    for (const dataFolder of dataFolders) await registerStoredSecrets(dataFolder);
    for (const dataFolder of new Set([folder, ...dataFolders])) expectNoSecretIn(await serviceArtefacts(dataFolder));
    // A file that the service does not know would prevent its start after a reset.
    expect(dataFolders.flatMap(unknownNames)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
