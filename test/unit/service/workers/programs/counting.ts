interface Counting {
  input: { to: number; failAt?: number };
}

/** Counts as a generator, in TypeScript. */
export default function* counting({ input }: Counting): Generator<number> {
  for (let at = 1; at <= input.to; at++) {
    if (at === input.failAt) throw new Error(`failed at ${at}`);
    yield at;
  }
}
