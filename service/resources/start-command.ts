import { z } from "zod";

/** What a container runs in the form of REST: words, with or without an entrypoint before them. */
export interface StartCommand {
  cmd: string[];
  entrypoint: string[];
}

const words = z.array(z.string()).default([]);
const jsonForm = z.strictObject({ cmd: words, entrypoint: words });

/** A template's `dockerArgs` in their JSON form, `{"cmd": […], "entrypoint": […]}`; undefined where they are a command line. */
export function startCommandOf(dockerArgs: string): StartCommand | undefined {
  if (!dockerArgs.trimStart().startsWith("{")) return undefined;
  try {
    return jsonForm.safeParse(JSON.parse(dockerArgs)).data;
  } catch {
    return undefined;
  }
}

/** Words as one command line, which a shell splits into the same words. */
export const commandLineOf = (parts: readonly string[]): string =>
  parts.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
