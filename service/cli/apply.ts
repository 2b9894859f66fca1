import { z } from "zod";
import { localPaths } from "../api/local";
import { connect, expectSuccess } from "./connection";
import { type Output, printError } from "./output";

const applied = z.object({
  file: z.string(),
  created: z.array(z.string()),
  updated: z.array(z.string()),
  differences: z.array(z.string()),
  atStart: z.array(z.string()),
});

/** Applies the changes of a running service's seed file, and prints what was created, updated and left. */
export async function applySeedFile(data: string, output: Output): Promise<void> {
  const response = expectSuccess(await connect(data).send("POST", localPaths.seed));
  const { file, created, updated, differences, atStart } = applied.parse(response.json);
  const lines = [...created.map((path) => `created ${path}`), ...updated.map((path) => `updated ${path}`)];
  output.out(lines.length > 0 ? lines.join("\n") : `${file}: no changes`);
  for (const difference of differences)
    printError(output, `${file}: ${difference}; delete the object, or revert the file`);
  for (const section of atStart) printError(output, `${file}: ${section}: takes effect when the service restarts`);
}
