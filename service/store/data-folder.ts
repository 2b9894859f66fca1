import { closeSync, existsSync, mkdirSync, openSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StartError } from "../errors";

/** The tables of a data folder's store. */
export const storeFile = (dataFolder: string): string => join(dataFolder, "service.db");

/** The redo log beside them. */
export const redoFile = (dataFolder: string): string => `${storeFile(dataFolder)}-redo`;

/** Names that the service itself uses in its folder, and those that file systems and desktops put into every folder. */
const expected =
  /^(?:(?:api-key|address|containers|pulled-images\.json|service\.log|service\.db|lock|reaper)(?:[.-].*)?|logs|workers|volumes|orphaned|\.gitignore|lost\+found|\.DS_Store)$/;

/** How many names a message lists. */
const shownNames = 3;

/**
 * Creates a data folder (mode 0700, ignored by Git: it holds a key and secrets). A folder that exists is not changed; it must be
 * empty, or that of a service with its store whole. Throws a StartError otherwise.
 */
export function prepareDataFolder(dataFolder: string): void {
  const created = mkdirSync(dataFolder, { recursive: true, mode: 0o700 }) !== undefined;
  if (created) writeFileSync(join(dataFolder, ".gitignore"), "*\n");
  if (!existsSync(storeFile(dataFolder))) {
    checkNames(dataFolder);
    checkRemains(dataFolder);
  }
  // SQLite gives its other files the same mode.
  closeSync(openSync(storeFile(dataFolder), "a", 0o600));
}

function checkNames(dataFolder: string): void {
  const foreign = readdirSync(dataFolder).filter((name) => !expected.test(name));
  if (foreign.length === 0) return;
  const more = foreign.length > shownNames ? `, and ${foreign.length - shownNames} more` : "";
  throw new StartError(
    `the data folder ${dataFolder}: contains files that are not the service's (${foreign.slice(0, shownNames).join(", ")}${more}); choose a new or empty folder with --data`,
  );
}

/** Changes that wait for a store which is missing would be lost with a new one. */
function checkRemains(dataFolder: string): void {
  for (const file of [redoFile(dataFolder), `${storeFile(dataFolder)}-wal`]) {
    if (!statSync(file, { throwIfNoEntry: false })?.size) continue;
    throw new StartError(
      `the store in ${dataFolder}: service.db is missing beside ${file}, which contains accepted jobs; restore all files of the folder from one backup`,
    );
  }
}
