import { markAfter } from "../../resources/serverless-endpoint/rollout-states";
import { shellWord } from "../project/text-layout";
import { pulumiCli, type StackChoice, stackArguments } from "../pulumi";
import { type ExportedState, parseState, type StateResource, stateText } from "../state";
import { exitCodes, type Terminal } from "../terminal";
import { readText } from "../text-file";
import type { Choices } from "./pending";
import { reportText, undecidedCreates } from "./report";
import { findUnresolved, type Unresolved } from "./unresolved";

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
  const result = await findUnresolved(parseState(text), flags, io.err, environment);
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
function requireResolved(result: Unresolved): void {
  const [unresolved] = [...undecidedCreates(result), ...result.foreign];
  if (unresolved) throw new Error(`${unresolved.urn}: this pending create is not resolved; nothing was changed`);
}

/** The command line that resolves the pending creates. */
function commandLine({ import: importedIds, ignore: ignoredIds, ...choice }: RecoverFlags): string {
  const options = [
    ...stackArguments(choice),
    ...importedIds.flatMap((id) => ["--import", id]),
    ...ignoredIds.flatMap((id) => ["--ignore", id]),
  ];
  return ["npx --no serverless-compute recover", ...options.map(shellWord), "--yes"].join(" ");
}

/** A pending create with an object that is added to the state. */
interface AdoptedObject {
  urn: string;
  name: string | undefined;
  id: string;
}

/**
 * The state with the objects of pending creates in it, and without pending operations. The outputs of an adopted object are its
 * inputs until a refresh reads it. Throws if the state no longer has one of the pending creates.
 */
export function adopt(state: ExportedState, adopted: readonly AdoptedObject[]): ExportedState {
  const { pending_operations: operations, ...deployment } = state.deployment;
  let resources = deployment.resources ?? [];
  for (const { urn, name, id } of adopted) {
    const operation = operations?.find(
      ({ type, resource }) => type === "creating" && resource.urn === urn && resource.inputs?.["name"] === name,
    );
    if (!operation) throw new Error(`${urn}: the state no longer contains this pending create; run the command again`);
    const { inputs = {} } = operation.resource;
    // An endpoint with `verify` counts as unverified: its create was interrupted, perhaps before the verification.
    const unverified = "verify" in inputs && markAfter("createInterrupted");
    const adoptedResource: StateResource = { ...operation.resource, id, outputs: { ...inputs, ...unverified } };
    const replacedIndex = resources.findIndex((candidate) => candidate.urn === urn && candidate.pendingReplacement);
    // Other resources already refer to a replaced resource, so they must follow it in the state.
    resources = replacedIndex < 0 ? [...resources, adoptedResource] : resources.with(replacedIndex, adoptedResource);
  }
  return { ...state, deployment: { ...deployment, resources } };
}
