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

/** Creates random choices from a seed (mulberry32). */
export function createChance(seed: number): Chance {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    seed,
    whole: (min, max) => min + Math.floor(next() * (max - min + 1)),
    percent: (share) => next() * 100 < share,
    oneOf: (values) => values[Math.floor(next() * values.length)],
  };
}
