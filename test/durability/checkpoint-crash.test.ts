import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import { openDatabase } from "../../service/store/database";
import { scratchFolder } from "../support/folders";
import { pragmaOf } from "../unit/service/store/support/sqlite-file";
import { chosenSeed, createChance, isFull } from "./chance";

const rounds = isFull ? 30 : 3;
const counts = z.object({ rows: z.number(), last: z.number() });
const writer = fileURLToPath(new URL("writer.ts", import.meta.url));
const loader = pathToFileURL(fileURLToPath(new URL("../../node_modules/tsx/dist/loader.mjs", import.meta.url))).href;

/** Runs a writer from row `first`, and kills it once `count` more rows are committed. Returns the last row that it reported. */
async function killedAfter(data: string, first: number, count: number): Promise<number> {
  const child = spawn(process.execPath, ["--import", loader, writer, data, String(first)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  let reported = 0;
  for await (const line of createInterface(child.stdout)) {
    reported = Number(line);
    if (reported >= first + count) child.kill("SIGKILL");
  }
  await exit;
  return reported;
}

test(
  `${rounds} kills (-9) while a thread moves the log lose no committed row`,
  async () => {
    const chance = createChance(chosenSeed());
    const data = join(scratchFolder(), "data");
    let next = 1;
    for (let round = 0; round < rounds; round++) {
      const reported = await killedAfter(data, next, chance.whole(1000, 6000));
      const database = openDatabase(data);
      const query = database.query("SELECT count(*) AS rows, max(CAST(id AS INTEGER)) AS last FROM secrets", counts);
      const { rows, last } = counts.parse(query.get());
      database.close();
      expect(rows).toBe(last);
      expect(rows).toBeGreaterThanOrEqual(reported);
      expect(pragmaOf(join(data, "service.db"), "integrity_check")).toBe("ok");
      next = last + 1;
    }
  },
  rounds * 30_000,
);
