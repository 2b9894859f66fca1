import { randomFrom } from "../support/random";

/** True if the long forms of the tests run: `npm run test:full`. */
export const isFull = process.env["FULL"] === "1";

/** Reproducible random choices: the same seed produces the same numbers. */
export interface Chance {
  readonly seed: number;
  /** A whole number from `min` to `max`, inclusive. */
  whole(min: number, max: number): number;
  /** Returns true with this probability, in percent. */
  percent(share: number): boolean;
  /** Returns one of the values; undefined if there are none. */
  oneOf<Value>(values: readonly Value[]): Value | undefined;
}

/** Returns the seed in DURABILITY_SEED, to repeat a run, or a new seed. */
export const chosenSeed = (): number => Number(process.env["DURABILITY_SEED"] ?? Date.now() % 2 ** 31);

/** Creates random choices from a seed. */
export function createChance(seed: number): Chance {
  const { int, chance } = randomFrom(seed);
  return {
    seed,
    whole: int,
    percent: (share) => chance(share / 100),
    oneOf: (values) => values[int(0, values.length - 1)],
  };
}
