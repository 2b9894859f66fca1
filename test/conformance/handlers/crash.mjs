import { appendFileSync } from "node:fs";

/**
 * Ends the worker's process in the middle of the job, after a last word on stderr. Where the input names a `file`, it is
 * given a line with the time first.
 */
export default ({ input }) => {
  if (input.file) appendFileSync(input.file, `${Date.now()}\n`);
  process.stderr.write("crashed on purpose\n");
  process.exit(3);
};
