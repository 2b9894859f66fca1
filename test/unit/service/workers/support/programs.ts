import { join } from "node:path";
import { scratchFolder } from "../../../../support/folders";

/** A program of test/unit/service/workers/programs. */
export const program = (name: string): string => join(__dirname, "..", "programs", name);

/** Images that the tests run. */
export const images = {
  tool: program("tool.mjs"),
  counting: program("counting.ts"),
  "no-default": program("no-default.mjs"),
};

/** Timings of the service, short enough for tests with real processes. */
export const shortTimings = { stopGrace: 300, killGrace: 300, startBackoff: 10, startBackoffMax: 50 };

/** Returns a file name in a folder that is removed after the test. */
export const scratchFile = (name = "file"): string => join(scratchFolder(), name);
