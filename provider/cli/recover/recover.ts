import { pulumiCli, type StackChoice, stackArguments } from "../pulumi";
import { parseState, stateText } from "../state";
import { exitCodes, type Terminal } from "../terminal";
import { readText } from "../text-file";
import { adopt } from "./adopt";
import type { Choices } from "./pending";
import { reportText, undecided } from "./report";
import { type Survey, survey } from "./survey";

/** Options of `recover`. */
export interface RecoverFlags extends StackChoice, Choices {
  /** Output of `pulumi stack export`, instead of the stack's own. */
  file?: string | undefined;
  /** Imports found objects and clears all other pending creates. */
  yes?: boolean | undefined;
  json?: boolean | undefined;
}

/** Resolves the pending creates of a stack whose engine was killed. Returns the exit code. */
export async function recover(flags: RecoverFlags, io: Terminal, environment?: NodeJS.ProcessEnv): Promise<number> {
  const cli = pulumiCli(flags);
  const text = flags.file === undefined ? await cli.exportState({ showSecrets: true }) : await readText(flags.file);
  const found = await survey(parseState(text), flags, io.err, environment);
  io.out(flags.json ? JSON.stringify(found, null, 2) : reportText(found, flags.yes ? undefined : commandWith(flags)));
  if (found.creates.length === 0) return found.foreign.length > 0 ? exitCodes.attention : 0;
  if (!flags.yes) return exitCodes.attention;
  requireDecided(found);
  const adopted = found.creates.flatMap((one) =>
    one.outcome === "found" ? [{ urn: one.urn, name: one.name, id: one.object.id }] : [],
  );
  // Read again with secrets as ciphertext, and without what a person changed meanwhile.
  const state = parseState(await cli.exportState({ showSecrets: false }));
  await cli.importState(stateText(adopt(state, adopted)));
  await cli.refresh();
  io.err(`Imported: ${adopted.length}. Cleared: ${found.creates.length - adopted.length}.`);
  return 0;
}

/** Throws unless every pending create can be resolved: an import of the state removes all of them. */
function requireDecided(found: Survey): void {
  const [open] = [...undecided(found), ...found.foreign];
  if (open) throw new Error(`${open.urn}: this pending create is not resolved; nothing was changed`);
}

/** The command line that resolves what a survey found. */
function commandWith({ import: imported, ignore, ...choice }: RecoverFlags): string {
  const options = [
    ...stackArguments(choice),
    ...imported.flatMap((id) => ["--import", id]),
    ...ignore.flatMap((id) => ["--ignore", id]),
  ];
  return ["npx --no serverless-compute recover", ...options, "--yes"].join(" ");
}
