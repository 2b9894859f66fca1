import { pulumiCli, type StackChoice, stackArguments } from "../pulumi";
import { parseState, stateText } from "../state";
import { exitCodes, type Terminal } from "../terminal";
import { readText } from "../text-file";
import { adopt } from "./adopt";
import type { Choices } from "./pending";
import { reportText, undecidedCreates } from "./report";
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
  const result = await survey(parseState(text), flags, io.err, environment);
  io.out(flags.json ? JSON.stringify(result, null, 2) : reportText(result, flags.yes ? undefined : commandLine(flags)));
  if (result.creates.length === 0) return result.foreign.length > 0 ? exitCodes.attention : 0;
  if (!flags.yes) return exitCodes.attention;
  requireResolved(result);
  const adoptedObjects = result.creates.flatMap((create) =>
    create.outcome === "found" ? [{ urn: create.urn, name: create.name, id: create.object.id }] : [],
  );
  // Read again, with secrets as ciphertext and with changes that were made in the meantime.
  const state = parseState(await cli.exportState({ showSecrets: false }));
  await cli.importState(stateText(adopt(state, adoptedObjects)));
  await cli.refresh();
  io.err(`Imported: ${adoptedObjects.length}. Cleared: ${result.creates.length - adoptedObjects.length}.`);
  return 0;
}

/** Throws unless every pending create can be resolved: an import of the state removes all of them. */
function requireResolved(result: Survey): void {
  const [unresolved] = [...undecidedCreates(result), ...result.foreign];
  if (unresolved) throw new Error(`${unresolved.urn}: this pending create is not resolved; nothing was changed`);
}

/** The command line that resolves what a survey found. */
function commandLine({ import: importedIds, ignore: ignoredIds, ...choice }: RecoverFlags): string {
  const options = [
    ...stackArguments(choice),
    ...importedIds.flatMap((id) => ["--import", id]),
    ...ignoredIds.flatMap((id) => ["--ignore", id]),
  ];
  return ["npx --no serverless-compute recover", ...options, "--yes"].join(" ");
}
