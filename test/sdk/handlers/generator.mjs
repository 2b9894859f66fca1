/** Yields `count` of the input objects with their index, as generator.py does. */
export default async function* generator({ input }) {
  for (let index = 0; index < input.count; index += 1) yield { index };
}
