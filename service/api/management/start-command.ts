import { isDeepStrictEqual } from "node:util";
import { invalidProperty } from "../../errors";
import { startCommandOf } from "../../resources/template-table";
import { CommandLineError, splitCommandLine } from "../../workers/command-line";

/** The start command of a container: entrypoint (empty for the image's entrypoint) and arguments. */
interface StartCommand {
  entrypoint: string[];
  cmd: string[];
}

/** The words of a start command. A command that cannot be split, which only GraphQL can set, is a single word. */
function wordsOf(commandLine: string): string[] {
  try {
    return splitCommandLine(commandLine);
  } catch (error) {
    if (error instanceof CommandLineError) return [commandLine];
    throw error;
  }
}

/** Parses `dockerArgs`: a command line, or both parts in JSON. */
export const parseStartCommand = (dockerArgs: string): StartCommand =>
  startCommandOf(dockerArgs) ?? { entrypoint: [], cmd: wordsOf(dockerArgs) };

/**
 * The `dockerArgs` after a change; undefined without one. `args` is the complete command. `entrypoint` and `cmd` replace their parts of the
 * `current` command. Throws a ServiceError `invalid` if they contradict each other.
 */
export function changedDockerArgs(
  { args, ...parts }: { args?: string | undefined; entrypoint?: string[] | undefined; cmd?: string[] | undefined },
  current: string,
): string | undefined {
  if (parts.entrypoint === undefined && parts.cmd === undefined) return args;
  const currentCommand = parseStartCommand(args ?? current);
  const { entrypoint = currentCommand.entrypoint, cmd = currentCommand.cmd } = parts;
  if (args !== undefined && !isDeepStrictEqual({ entrypoint, cmd }, currentCommand))
    throw invalidProperty("args", "must state the same command as entrypoint and cmd; send only one form");
  return args ?? (entrypoint.length + cmd.length === 0 ? "" : JSON.stringify({ entrypoint, cmd }));
}
