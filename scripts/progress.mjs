/**
 * Where set-up says what it is doing.
 * @typedef {object} Progress
 * @property {(text: string) => void} say Prints a line.
 * @property {(text: string) => Step} start Shows that something takes a while, with the seconds passed.
 */

/**
 * @typedef {object} Step
 * @property {(text?: string) => void} done Ends the step; a text becomes its last line.
 */

/** Where there is no terminal to rewrite a line on: when it is printed first, and how often again, in milliseconds. */
const first = 1_000;
const repeat = 30_000;

/**
 * Progress on a stream: on a terminal one line counts the seconds, elsewhere a line now and then.
 * @param {NodeJS.WriteStream | NodeJS.WritableStream} [stream]
 * @returns {Progress}
 */
export function createProgress(stream = process.stderr) {
  /** @param {string} text */
  const say = (text) => {
    stream.write(`${text}\n`);
  };
  const terminal = "isTTY" in stream && stream.isTTY === true;
  return { say, start: (text) => (terminal ? drawn(text, stream) : told(text, say)) };
}

/**
 * @param {string} text
 * @param {NodeJS.WriteStream | NodeJS.WritableStream} stream
 * @returns {Step}
 */
function drawn(text, stream) {
  const passed = stopwatch();
  const draw = () => stream.write(`\r\x1b[K${fitted(`${text} … ${passed()} s`, stream)}`);
  draw();
  const timer = setInterval(draw, 1000);
  timer.unref();
  return {
    done: (last) => {
      clearInterval(timer);
      stream.write(last === undefined ? "\r\x1b[K" : `\r\x1b[K${last}\n`);
    },
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

/** Starts to count; what it hands back tells the whole seconds since. */
function stopwatch() {
  const began = performance.now();
  return () => Math.round((performance.now() - began) / 1000);
}

/** @type {Progress} Progress that nobody sees. */
export const silent = { say: () => {}, start: () => ({ done: () => {} }) };

/**
 * A text cut to the terminal's width, because a wrapped line cannot be rewritten.
 * @param {string} text
 * @param {NodeJS.WriteStream | NodeJS.WritableStream} stream
 */
function fitted(text, stream) {
  const columns = "columns" in stream && stream.columns > 0 ? stream.columns : 80;
  return text.length < columns ? text : `${text.slice(0, columns - 2)}…`;
}
