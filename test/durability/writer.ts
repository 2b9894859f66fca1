import { writeSync } from "node:fs";
import { openDatabase } from "../../service/store/database";

/** Inserts rows into the store of a data folder until it is killed. Prints the number of committed rows. */
function write(dataFolder: string, first: number): void {
  const database = openDatabase(dataFolder);
  const insert = database.prepare(
    "INSERT INTO secrets (id, name, value, created_at, updated_at) VALUES (?1, ?1, ?2, 0, 0)",
  );
  for (let row = first; ; row++) {
    insert.run(String(row), "x".repeat(12_000));
    if (row % 50 === 0) writeSync(1, `${row}\n`);
  }
}

const [, , dataFolder = "", first = "1"] = process.argv;
write(dataFolder, Number(first));
