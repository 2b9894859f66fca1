/**
 * Output of the setup.
 * @typedef {object} Progress
 * @property {(text: string) => void} say Prints a line.
 * @property {(text: string) => Step} start Shows a running step with its elapsed seconds.
 */

/**
 * @typedef {object} Step
 * @property {(text?: string) => void} done Ends the step; the text becomes its last line.
 */

/** Without a terminal: delay of the first line and interval of the following ones, ms. */
const first = 1_000;
const repeat = 30_000;

/**
 * Progress on a stream: one live line on a terminal, a line at intervals elsewhere.
 * @param {NodeJS.WriteStream | NodeJS.WritableStream} [stream]
 * @returns {Progress}
 */
export function createProgress(stream = process.stderr) {
  /** @param {string} text */
  const say = (text) => {
    stream.write(`${text}\n`);
  };
  const terminal = "isTTY" in stream && stream.isTTY === true;
  const draw = terminal ? liveLine(stream) : undefined;
  return { say, start: draw ?? ((text) => told(text, say)) };
}

/**
 * One line with the running steps, the latest first; returns the function that starts a step.
 * @param {NodeJS.WriteStream | NodeJS.WritableStream} stream
 */
function liveLine(stream) {
  /** @type {(() => string)[]} */
  const steps = [];
  const draw = () => stream.write(`\r\x1b[K${fitted(steps.map((text) => text()).join("; "), stream)}`);
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @param {string} text @returns {Step} */
  return (text) => {
    const passed = stopwatch();
    const step = () => `${text} … ${passed()} s`;
    steps.unshift(step);
    draw();
    timer ??= setInterval(draw, 1000).unref();
    return {
      done: (last) => {
        steps.splice(steps.indexOf(step), 1);
        stream.write(last === undefined ? "\r\x1b[K" : `\r\x1b[K${last}\n`);
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
 * @param {(text: string) => void} say
 * @returns {Step}
 */
function told(text, say) {
  const passed = stopwatch();
  const opening = setTimeout(() => say(`${text} …`), first);
  const timer = setInterval(() => say(`${text} … ${passed()} s`), repeat);
  opening.unref();
  timer.unref();
  return {
    done: (last) => {
      clearTimeout(opening);
      clearInterval(timer);
      if (last !== undefined) say(last);
    },
  };
}

/** Starts a stopwatch; the result returns the elapsed whole seconds. */
function stopwatch() {
  const began = performance.now();
  return () => Math.round((performance.now() - began) / 1000);
}

/** @type {Progress} Discards progress. */
export const silent = { say: () => {}, start: () => ({ done: () => {} }) };

/**
 * Truncates a text to the terminal's width, because a wrapped line cannot be rewritten.
 * @param {string} text
 * @param {NodeJS.WriteStream | NodeJS.WritableStream} stream
 */
function fitted(text, stream) {
  const columns = "columns" in stream && stream.columns > 0 ? stream.columns : 80;
  return text.length < columns ? text : `${text.slice(0, columns - 2)}…`;
}
