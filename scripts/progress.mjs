/**
 * Output of the setup.
 * @typedef {object} Progress
 * @property {(text: string) => void} print Prints a line.
 * @property {(text: string) => Step} start Prints a running step, and its elapsed seconds at intervals.
 */

/**
 * @typedef {object} Step
 * @property {(text?: string) => void} done Ends the step; the text is its last line.
 */

/** Delay of a step's first line, so that short steps print none, and interval of the following ones, ms. */
const firstDelay = 1_000;
const repeatInterval = 15_000;

/**
 * Progress as lines on a stream.
 * @param {NodeJS.WritableStream} [stream]
 * @returns {Progress}
 */
export function createProgress(stream = process.stderr) {
  /** @param {string} text */
  const print = (text) => {
    stream.write(`${text}\n`);
  };
  return {
    print,
    start: (text) => {
      const startTime = performance.now();
      const elapsedSeconds = () => Math.round((performance.now() - startTime) / 1000);
      const firstTimer = setTimeout(() => print(`${text} …`), firstDelay).unref();
      const timer = setInterval(() => print(`${text} … ${elapsedSeconds()} s`), repeatInterval).unref();
      return {
        done: (finalText) => {
          clearTimeout(firstTimer);
          clearInterval(timer);
          if (finalText !== undefined) print(finalText);
        },
      };
    },
  };
}

/** @type {Progress} Discards progress. */
export const silentProgress = { print: () => {}, start: () => ({ done: () => {} }) };
