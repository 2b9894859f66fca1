import { appliedSeed, localPaths } from "../api/local";
import { connect, expectSuccess } from "./connection";
import { type Output, printError } from "./output";

/** Number of objects that a line names. */
const namedObjects = 5;

/** Response timeout, ms: the service applies thousands of objects before it responds. */
const timeout = 300_000;

/** Applies the changes of a running service's seed file, and prints what was created, updated and left. */
export async function applySeedFile(data: string, output: Output): Promise<void> {
  const response = expectSuccess(await connect(data, timeout).send("POST", localPaths.seed));
  const { file, created, updated, differences, others, atStart } = appliedSeed.parse(response.json);
  const lines = [
    ...created.map((path) => `created ${path}`),
    ...updated.flatMap(({ path, changes }) => [`updated ${path}`, ...changes.map((change) => `  ${change}`)]),
  ];
  output.out(lines.length > 0 ? lines.join("\n") : `${file}: no changes`);
  if (others.length > 0) {
    const more = others.length > namedObjects ? `, and ${others.length - namedObjects} more` : "";
    output.out(`not in the file and unchanged: ${others.slice(0, namedObjects).join(", ")}${more}`);
  }
  for (const difference of differences)
    printError(output, `${file}: ${difference}; delete the object, or revert the file`);
  for (const section of atStart) printError(output, `${file}: ${section}: takes effect when the service restarts`);
}
