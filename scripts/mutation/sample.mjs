import { createHash } from "node:crypto";
import { relative } from "node:path";

/**
 * @typedef {Awaited<ReturnType<import("@stryker-mutator/core").Stryker["runMutationTest"]>>[number]} MutantResult
 * @typedef {Pick<MutantResult, "id" | "fileName" | "location" | "replacement">} Mutant
 */

/**
 * Position of a mutant in the order of a seed. It is independent of other mutants, so that most of a sample survives an edit.
 * @param {Mutant} mutant
 * @param {string} seed
 */
function rankOf({ fileName, location, replacement }, seed) {
  const text = JSON.stringify([seed, relative(process.cwd(), fileName), location, replacement]);
  return createHash("sha256").update(text).digest("hex");
}

/**
 * Stryker checker plugin that selects a sample: accepts the first `size` mutants in the order of the seed.
 * The other mutants get the status `CompileError` and do not run.
 * @param {{ sample: { size: number, seed: string } }} options
 */
function createSample({ sample: { size, seed } }) {
  return {
    init: async () => {},
    /** Puts all mutants into one group. @param {readonly Mutant[]} mutants */
    group: async (mutants) => [mutants.map(({ id }) => id)],
    /** @param {readonly Mutant[]} mutants */
    check: async (mutants) => {
      const ranked = mutants.map((mutant) => ({ id: mutant.id, rank: rankOf(mutant, seed) }));
      ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
      return Object.fromEntries(
        ranked.map(({ id }, index) => [
          id,
          index < size ? { status: "passed" } : { status: "compileError", reason: "not in the sample" },
        ]),
      );
    },
  };
}
createSample.inject = ["options"];

/** Text of a result: status, place, mutator and the code that replaced the original. @param {MutantResult} result */
export const describeMutant = ({ status, fileName, location: { start }, mutatorName, replacement }) =>
  `${status} ${relative(process.cwd(), fileName)}:${start.line}:${start.column} ${mutatorName}: ${replacement.replaceAll(/\s+/g, " ")}`;

/** Stryker reporter plugin that prints each result of the sample immediately. */
const reporter = {
  /** @param {MutantResult} result */
  onMutantTested(result) {
    if (result.status !== "CompileError" && result.status !== "Ignored") console.log(describeMutant(result));
  },
};

export const strykerPlugins = [
  { kind: "Checker", name: "sample", factory: createSample },
  { kind: "Reporter", name: "sample", value: reporter },
];
