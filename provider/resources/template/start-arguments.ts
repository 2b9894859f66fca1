/** Start arguments of a container in a program: a single string, or lists of words. */
export interface StartArguments {
  dockerArgs: string;
  dockerEntrypoint?: readonly string[] | undefined;
  dockerStartCmd?: readonly string[] | undefined;
}

/** Inputs that determine the start text. */
export const startKeys = [
  "dockerArgs",
  "dockerEntrypoint",
  "dockerStartCmd",
] as const satisfies (keyof StartArguments)[];

/** Returns true if an update changes a setting of a container; the start text is one setting. */
export const changesSetting = (key: string, changed: (key: string) => boolean): boolean =>
  key === "dockerArgs" ? startKeys.some(changed) : changed(key);

/** Start arguments with both forms; the unused one is empty. */
type CompleteStartArguments = { [Key in keyof StartArguments]-?: NonNullable<StartArguments[Key]> };

/** Start arguments as lists. */
interface ArgumentLists {
  entrypoint: readonly string[];
  cmd: readonly string[];
}

const isStringList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((word) => typeof word === "string");

/**
 * Parses the entrypoint and the command in start arguments of the form `{"entrypoint": [...], "cmd": [...]}`; undefined for a bare command.
 * Without zod, because every program loads this file.
 */
function parseLists(dockerArgs: string): ArgumentLists | undefined {
  if (!dockerArgs.trimStart().startsWith("{")) return undefined;
  try {
    const { entrypoint = [], cmd = [], ...others } = JSON.parse(dockerArgs);
    return isStringList(entrypoint) && isStringList(cmd) && Object.keys(others).length === 0
      ? { entrypoint, cmd }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Returns start arguments as text that both dialects accept (contract of REST v2: `args`); equal arguments have equal texts. */
export function toStartText({ dockerArgs, dockerEntrypoint = [], dockerStartCmd = [] }: StartArguments): string {
  const { entrypoint, cmd } = parseLists(dockerArgs) ?? { entrypoint: dockerEntrypoint, cmd: dockerStartCmd };
  return entrypoint.length + cmd.length === 0 ? dockerArgs : JSON.stringify({ entrypoint, cmd });
}

/** Returns the start arguments of a record: text if the program uses text, otherwise lists if the record contains them. */
export function toStartLists(dockerArgs: string, isText: boolean): CompleteStartArguments {
  const lists = isText ? undefined : parseLists(dockerArgs);
  return lists
    ? { dockerArgs: "", dockerEntrypoint: lists.entrypoint, dockerStartCmd: lists.cmd }
    : { dockerArgs, dockerEntrypoint: [], dockerStartCmd: [] };
}
