import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root folder. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Runs a script's main function: its result is the exit code, and an error is its message alone, because a person at
 * a terminal can do nothing with a stack. DEBUG=1 shows the stack.
 * @param {() => Promise<number>} main
 */
export async function runScript(main) {
  for (const [signal, code] of /** @type {const} */ ([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ])) {
    // Ending by process.exit takes child processes along; but whoever else listens knows better how to end.
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(code);
    });
  }
  try {
    process.exitCode = await main();
  } catch (error) {
    const text = error instanceof Error ? (process.env["DEBUG"] ? error.stack : error.message) : String(error);
    process.stderr.write(`\n${text}\n`);
    process.exitCode = 1;
  }
}
