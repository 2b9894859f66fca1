import { isDeepStrictEqual } from "node:util";
import { invalidProperty } from "../../errors";
import { startCommandOf, type TemplateRow } from "../../resources/template-table";
import { CommandLineError, splitCommandLine } from "../../workers/command-line";

/** The start command of a container: entrypoint (empty for the image's entrypoint) and arguments. */
interface StartCommand {
  entrypoint: string[];
  cmd: string[];
}

/** The words of a start command. A command that cannot be split, which only GraphQL can set, is a single word. */
export function wordsOf(commandLine: string): string[] {
  try {
    return splitCommandLine(commandLine);
  } catch (error) {
    if (error instanceof CommandLineError) return [commandLine];
    throw error;
  }
}

type StoredCommand = Pick<TemplateRow, "dockerArgs" | "dockerEntrypoint">;

const parseStartCommand = ({ dockerArgs, dockerEntrypoint }: StoredCommand): StartCommand =>
  startCommandOf(dockerArgs) ?? { entrypoint: dockerEntrypoint, cmd: wordsOf(dockerArgs) };

/** The start command in the three fields of REST v2; `args` contains an entrypoint that REST v1 set in JSON. */
export function startRecord(stored: StoredCommand): StartCommand & { args: string } {
  const start = parseStartCommand(stored);
  const isCommandLine = stored.dockerEntrypoint.length === 0 || startCommandOf(stored.dockerArgs) !== undefined;
  return { args: isCommandLine ? stored.dockerArgs : JSON.stringify(start), ...start };
}

/**
 * The changes of a start command by a body of REST v2. `args` is the complete command: a command line, or both parts in JSON. `entrypoint`
 * and `cmd` replace their parts of the `current` command. Throws a ServiceError `invalid` if they contradict each other.
 */
export function startChanges(
  body: { args?: string | undefined; entrypoint?: string[] | undefined; cmd?: string[] | undefined },
  current: StoredCommand,
): Partial<StoredCommand> {
  const { args, entrypoint, cmd } = body;
  if (entrypoint === undefined && cmd === undefined)
    return args === undefined ? {} : { dockerArgs: args, dockerEntrypoint: [] };
  const currentCommand = parseStartCommand(args === undefined ? current : { dockerArgs: args, dockerEntrypoint: [] });
  const newCommand = { entrypoint: entrypoint ?? currentCommand.entrypoint, cmd: cmd ?? currentCommand.cmd };
  if (args !== undefined && !isDeepStrictEqual(newCommand, currentCommand))
    throw invalidProperty("args", "must state the same command as entrypoint and cmd; send only one form");
  const isEmpty = newCommand.entrypoint.length + newCommand.cmd.length === 0;
  return { dockerArgs: args ?? (isEmpty ? "" : JSON.stringify(newCommand)), dockerEntrypoint: [] };
}
