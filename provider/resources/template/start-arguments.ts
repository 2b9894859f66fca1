/** The start arguments of a container as a program writes them: one text, or lists of words. */
export interface StartArguments {
  dockerArgs: string;
  dockerEntrypoint?: readonly string[] | undefined;
  dockerStartCmd?: readonly string[] | undefined;
}

interface Lists {
  entrypoint: readonly string[];
  cmd: readonly string[];
}

const isWords = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((word) => typeof word === "string");

/**
 * Entrypoint and command in start arguments of the form `{"entrypoint": [...], "cmd": [...]}`; undefined for a bare command.
 * Without zod, because every program loads this file.
 */
function listsIn(dockerArgs: string): Lists | undefined {
  if (!dockerArgs.trimStart().startsWith("{")) return undefined;
  try {
    const { entrypoint = [], cmd = [], ...others } = JSON.parse(dockerArgs);
    return isWords(entrypoint) && isWords(cmd) && Object.keys(others).length === 0 ? { entrypoint, cmd } : undefined;
  } catch {
    return undefined;
  }
}

/** The text that both dialects accept (contract of REST v2: `args`). Equal arguments have equal texts. */
export function startText({ dockerArgs, dockerEntrypoint = [], dockerStartCmd = [] }: StartArguments): string {
  const { entrypoint, cmd } = listsIn(dockerArgs) ?? { entrypoint: dockerEntrypoint, cmd: dockerStartCmd };
  return entrypoint.length + cmd.length === 0 ? dockerArgs : JSON.stringify({ entrypoint, cmd });
}

/** The start arguments of a record: a text if the program wrote one, else lists if the record has any. */
export function startArgumentsOf(dockerArgs: string, isText: boolean): Required<StartArguments> {
  const found = isText ? undefined : listsIn(dockerArgs);
  return found
    ? { dockerArgs: "", dockerEntrypoint: found.entrypoint, dockerStartCmd: found.cmd }
    : { dockerArgs, dockerEntrypoint: [], dockerStartCmd: [] };
}
