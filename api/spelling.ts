const isDigit = (character: string | undefined): boolean => character !== undefined && /\d/.test(character);

/** Maximum distance of a suggestion. */
const maxDistance = 2;

/** Costs of an added or removed character. Another number is not a typo: a replaced digit costs more than the maximum distance. */
const costOf = (character: string | undefined): number => (isDigit(character) ? 1.5 : 1);

/** Edit distance between two words, with higher costs of digits. */
function editDistance(from: string, to: string): number {
  let row = [0];
  for (const character of to) row.push((row.at(-1) ?? 0) + costOf(character));
  for (const character of from) {
    const next = [(row[0] ?? 0) + costOf(character)];
    for (let j = 1; j <= to.length; j++) {
      const other = to[j - 1];
      const change = character === other ? 0 : isDigit(character) && isDigit(other) ? 2 * costOf(other) : 1;
      next.push(
        Math.min((row[j - 1] ?? 0) + change, (row[j] ?? 0) + costOf(character), (next[j - 1] ?? 0) + costOf(other)),
      );
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/** The candidate with the smallest edit distance to a word; undefined if none is near. */
export function suggest(word: string, candidates: readonly string[]): string | undefined {
  const matches = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= Math.min(maxDistance, word.length / 2))
    .sort((a, b) => a.distance - b.distance);
  return matches[0]?.candidate;
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];

/** The shortest candidate that contains all words of a text, such as "NVIDIA RTX A5000" for "A5000"; undefined if there is none. */
export function withSameWords(text: string, candidates: readonly string[]): string | undefined {
  const words = wordsOf(text);
  const matches = candidates.filter((candidate) => {
    const candidateWords = wordsOf(candidate);
    return words.length > 0 && words.every((word) => candidateWords.includes(word));
  });
  return matches.sort((a, b) => a.length - b.length)[0];
}
