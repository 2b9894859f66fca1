import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../../../../service/store/database";
import { scratchFolder } from "../../../../support/folders";

/** Acquires the write lock of a service's store as another program, and returns a function that releases it. */
export function lockStore(dataFolder: string): () => void {
  const other = scratchFolder();
  symlinkSync(join(dataFolder, "service.db"), join(other, "service.db"));
  const database = openDatabase(other);
  database.prepare("BEGIN IMMEDIATE").run();
  return () => {
    database.prepare("ROLLBACK").run();
    database.close();
  };
}
