/**
 * Output of the setup.
 * @typedef {object} Progress
 * @property {(text: string) => void} print Prints a line.
 * @property {(text: string) => Step} start Shows a running step with its elapsed seconds.
 */

/**
 * @typedef {object} Step
 * @property {(text?: string) => void} done Ends the step; the text becomes its last line.
 */

/** Without a terminal: delay of the first line and interval of the following ones, ms. */
const firstDelay = 1_000;
const repeatInterval = 30_000;

/**
 * Progress on a stream: one live line on a terminal, a line at intervals elsewhere.
 * @param {NodeJS.WriteStream | NodeJS.WritableStream} [stream]
 * @returns {Progress}
 */
export function createProgress(stream = process.stderr) {
  /** @param {string} text */
  const print = (text) => {
    stream.write(`${text}\n`);
  };
  const terminal = "isTTY" in stream && stream.isTTY === true;
  const draw = terminal ? liveLine(stream) : undefined;
  return { print, start: draw ?? ((text) => printAtIntervals(text, print)) };
}

/**
 * One line with the running steps, the latest first; returns the function that starts a step.
 * @param {NodeJS.WriteStream | NodeJS.WritableStream} stream
 */
function liveLine(stream) {
  /** @type {(() => string)[]} */
  const steps = [];
  const draw = () => stream.write(`\r\x1b[K${truncate(steps.map((text) => text()).join("; "), stream)}`);
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @param {string} text @returns {Step} */
  return (text) => {
    const elapsedSeconds = startStopwatch();
    const step = () => `${text} … ${elapsedSeconds()} s`;
    steps.unshift(step);
    draw();
    timer ??= setInterval(draw, 1000).unref();
    return {
      done: (finalText) => {
        steps.splice(steps.indexOf(step), 1);
        stream.write(finalText === undefined ? "\r\x1b[K" : `\r\x1b[K${finalText}\n`);
        if (steps.length > 0) draw();
        else {
          clearInterval(timer);
          timer = undefined;
        }
      },
    };
  };
}

/**
 * @param {string} text
 * @param {(text: string) => void} print
 * @returns {Step}
 */
function printAtIntervals(text, print) {
  const elapsedSeconds = startStopwatch();
  const firstTimer = setTimeout(() => print(`${text} …`), firstDelay);
  const timer = setInterval(() => print(`${text} … ${elapsedSeconds()} s`), repeatInterval);
  firstTimer.unref();
  timer.unref();
  return {
    done: (finalText) => {
      clearTimeout(firstTimer);
      clearInterval(timer);
      if (finalText !== undefined) print(finalText);
    },
  };
}

/** Starts a stopwatch; the result returns the elapsed whole seconds. */
function startStopwatch() {
  const startTime = performance.now();
  return () => Math.round((performance.now() - startTime) / 1000);
}

/** @type {Progress} Discards progress. */
export const silentProgress = { print: () => {}, start: () => ({ done: () => {} }) };

/**
 * Truncates a text to the terminal's width, because a wrapped line cannot be rewritten.
 * @param {string} text
 * @param {NodeJS.WriteStream | NodeJS.WritableStream} stream
 */
function truncate(text, stream) {
  const columns = "columns" in stream && stream.columns > 0 ? stream.columns : 80;
  return text.length < columns ? text : `${text.slice(0, columns - 2)}…`;
}
