import fc from "fast-check";
import { afterAll, test } from "vitest";
import { openDatabase } from "../../service/store/database";
import { scratchFolder } from "../support/folders";
import { isFull } from "./chance";
import { compare } from "./history/comparison";
import { Player } from "./history/player";
import { histories, knownHistories } from "./history/steps";

const database = openDatabase(scratchFolder(afterAll));
afterAll(database.close);
const runs = isFull ? 10_000 : 200;

test(
  `${runs} random histories with concurrent calls and kills before the commit match the model`,
  async () => {
    const property = fc.asyncProperty(histories, async ({ punctual, steps }) => {
      const player = new Player(database, punctual);
      try {
        for (const step of steps) {
          await player.play(step);
          compare(player);
        }
      } finally {
        await player.end();
      }
    });
    const seed = process.env["DURABILITY_SEED"];
    await fc.assert(property, {
      numRuns: runs,
      examples: knownHistories.map((known) => [known]),
      ...(seed === undefined ? {} : { seed: Number(seed) }),
    });
  },
  isFull ? 3_600_000 : 120_000,
);
