import { selectedService } from "../settings/settings";
import { openAccount } from "./account";
import { requireEmpty } from "./project/folder";
import { readObjects } from "./project/objects";
import { type ProjectFlags, writeProject } from "./project/output";
import type { Terminal } from "./terminal";

/** Options of `import`. */
export interface ImportFlags extends ProjectFlags {
  /** Pattern of object names, with `*` and `?`. */
  filter?: string | undefined;
}

/** Writes a project with the objects of an account, and the file for `pulumi import`. Returns the exit code. */
export async function importAccount(
  flags: ImportFlags,
  io: Terminal,
  environment?: NodeJS.ProcessEnv,
): Promise<number> {
  await requireEmpty(flags.out);
  const account = openAccount(undefined, io.err, environment);
  const isSelected = flags.filter === undefined ? () => true : globMatcher(flags.filter);
  const { objects, skipped } = await readObjects(account, ({ name = "" }) => isSelected(name), io.err).finally(() =>
    account.close(),
  );
  if (objects.length === 0)
    throw new Error(
      flags.filter === undefined
        ? `${account.baseUrl}: the account has no objects to import; nothing was written`
        : `--filter: no object of the account matches ${JSON.stringify(flags.filter)}; nothing was written`,
    );
  return writeProject(objects, { settings: selectedService(environment), skipped, noCounterpart: [] }, flags, io);
}

/** Returns a function that compares whole names with a pattern. */
function globMatcher(glob: string): (name: string) => boolean {
  const escaped = glob
    .replace(/[\\^$.|+()[\]{}]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  const pattern = new RegExp(`^${escaped}$`, "su");
  return (name) => pattern.test(name);
}
