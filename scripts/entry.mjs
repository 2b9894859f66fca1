import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The repository's root folder. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * True if Node was started with this module, false if another module imports it.
 * @param {string} url `import.meta.url` of the module.
 */
export const isMain = (url) => process.argv[1] !== undefined && url === pathToFileURL(process.argv[1]).href;

/**
 * Runs a script's main function, which returns the exit code. An error ends the process with its child processes; only
 * the message is printed, with DEBUG=1 the stack.
 * @param {() => Promise<number>} main
 * @param {string} [usage] The arguments, printed for --help instead of a run.
 */
export async function runScript(main, usage) {
  if (usage !== undefined && process.argv.slice(2).some((argument) => ["--help", "-h"].includes(argument))) {
    console.log(usage);
    return;
  }
  for (const [signal, code] of /** @type {const} */ ([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ])) {
    // process.exit also ends child processes. If there are other listeners, they end the process.
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(code);
    });
  }
  try {
    process.exitCode = await main();
  } catch (error) {
    const text = error instanceof Error ? (process.env["DEBUG"] ? error.stack : error.message) : String(error);
    process.stderr.write(`\n${text}\n`, () => process.exit(1));
  }
}
