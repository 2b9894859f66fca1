/** Reproducible random choices for a seed. */
export interface Random {
  /** A number from 0 (inclusive) to 1 (exclusive). */
  next(): number;
  /** A whole number from `low` to `high`. */
  int(low: number, high: number): number;
  pick<Item>(choices: readonly Item[]): Item;
  chance(probability: number): boolean;
}

/** The generator mulberry32: small, and sufficient for choosing faults. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    int,
    pick: (choices) => {
      const chosen = choices[int(0, choices.length - 1)];
      if (chosen === undefined) throw new Error("the list of choices is empty");
      return chosen;
    },
    chance: (probability) => next() < probability,
  };
}
