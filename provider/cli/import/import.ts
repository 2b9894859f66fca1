import { createRequire } from "node:module";
import { basename, resolve } from "node:path";
import { type ObjectKind, objectKinds } from "../../resources";
import { type Account, openAccount } from "../account";
import { typePrefixes } from "../resource-types";
import { exitCodes, type Terminal } from "../terminal";
import { requireEmpty, writeFolder } from "./folder";
import { hyphenated } from "./identifiers";
import { type AccountObject, programOf } from "./program";
import { pluginFolder } from "./project";
import { reportText, type Skipped } from "./report";
import { typescriptProject } from "./typescript";
import { yamlProject } from "./yaml";

/** Writers of projects by language. */
export const projects = { typescript: typescriptProject, yaml: yamlProject };

/** Options of `import`. */
export interface ImportFlags {
  /** Folder of the new project. */
  out: string;
  language: keyof typeof projects;
  /** Pattern of object names, with `*` and `?`. */
  filter?: string | undefined;
  json?: boolean | undefined;
}

/** Writes a project with the objects of an account, and the file for `pulumi import`. Returns the exit code. */
export async function importAccount(
  flags: ImportFlags,
  io: Terminal,
  environment?: NodeJS.ProcessEnv,
): Promise<number> {
  await requireEmpty(flags.out);
  const account = openAccount(() => undefined, io.err, environment);
  const { objects, skipped } = await objectsOf(account, flags.filter, io.err).finally(() => account.close());
  if (objects.length === 0)
    throw new Error(
      flags.filter === undefined
        ? `${account.baseUrl}: the account has no objects to import; nothing was written`
        : `--filter: no object of the account matches ${JSON.stringify(flags.filter)}; nothing was written`,
    );
  const program = programOf(objects);
  const resources = program.resources.map(({ kind, name, id }) => ({ type: typePrefixes.plugin + kind, name, id }));
  const { version }: { version: string } = createRequire(__filename)("pulumi-serverless-compute/package.json");
  const name = hyphenated(basename(resolve(flags.out))) || "imported";
  const project = { name, version, plugin: pluginFolder(flags.out) };
  await writeFolder(flags.out, {
    ...projects[flags.language](program, project),
    "import.json": `${JSON.stringify({ resources }, null, 2)}\n`,
  });
  const report = { folder: flags.out, language: flags.language, resources, config: program.config, skipped };
  io.out(flags.json ? JSON.stringify(report, null, 2) : reportText(report));
  return skipped.length > 0 ? exitCodes.attention : 0;
}

/** The objects that match the filter, and those of them that no program can have. */
async function objectsOf(account: Account, filter: string | undefined, notice: (text: string) => void) {
  const isWanted = filter === undefined ? () => true : matcher(filter);
  const objects: AccountObject[] = [];
  const skipped: Skipped[] = [];
  for (const kind of kindsInOrder) {
    const { found, unreadable } = await account.imports(kind);
    notice(`${kind}: ${found.length} in the account`);
    for (const { id, name, error } of unreadable) skipped.push({ kind, id, name, reason: error.message });
    for (const object of found.filter(({ name }) => isWanted(name))) {
      const [reason] = account.mistakes(kind, object.inputs);
      if (reason === undefined) objects.push({ kind, ...object });
      else skipped.push({ kind, id: object.id, name: object.name, reason });
    }
  }
  return { objects, skipped };
}

const isKind = (name: string): name is ObjectKind => name in objectKinds;
const kindsInOrder = Object.keys(objectKinds).filter(isKind);

/** Returns a function that compares whole names with a pattern. */
function matcher(glob: string): (name: string) => boolean {
  const escaped = glob
    .replace(/[\\^$.|+()[\]{}]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  const pattern = new RegExp(`^${escaped}$`, "su");
  return (name) => pattern.test(name);
}
