import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StartError } from "../errors";

/** The database file of a data folder. */
export const storeFile = (dataFolder: string): string => join(dataFolder, "service.db");

/** Names that the service itself uses in its folder, and those that file systems and desktops put into every folder. */
const expected =
  /^(?:(?:api-key|address|containers|pulled-images\.json|service\.log|service\.db|lock|reaper)(?:[.-].*)?|logs|workers|volumes|orphaned|\.gitignore|lost\+found|\.DS_Store)$/;

/** Maximum number of names in a message. */
const shownNames = 3;

/**
 * Creates a data folder (mode 0700, ignored by Git: it contains a key and secrets). An existing folder is not changed. It must be
 * empty or a service's folder with all files of its store; otherwise a StartError is thrown.
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

/** Creates a data folder that exists until `remove` is called or the process exits. A killed process leaves it. */
export function createTemporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "serverless-compute-local-"));
  const remove = (): void => {
    process.off("exit", remove);
    rmSync(path, { recursive: true, force: true });
  };
  process.on("exit", remove);
  return { path, remove };
}

function checkNames(dataFolder: string): void {
  const foreign = readdirSync(dataFolder).filter((name) => !expected.test(name));
  if (foreign.length === 0) return;
  const more = foreign.length > shownNames ? `, and ${foreign.length - shownNames} more` : "";
  throw new StartError(
    `the data folder ${dataFolder}: contains files that are not the service's (${foreign.slice(0, shownNames).join(", ")}${more}); choose a new or empty folder with --data`,
  );
}

/** A new database beside the write-ahead log of a missing one would lose that log's changes. */
function checkRemains(dataFolder: string): void {
  const log = `${storeFile(dataFolder)}-wal`;
  if (!statSync(log, { throwIfNoEntry: false })?.size) return;
  throw new StartError(
    `the store in ${dataFolder}: service.db is missing beside ${log}, which contains accepted jobs; restore all files of the folder from one backup`,
  );
}
