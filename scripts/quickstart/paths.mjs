import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withCliOnPath } from "../cli/cli.mjs";
import { root } from "../entry.mjs";

const folder = join(root, ".serverless-compute", "quickstart");

/** Folder of the quickstart, separate from the user's stacks, login and services. */
export const paths = {
  folder,
  lock: `${folder}.lock`,
  service: join(folder, "service"),
  address: join(folder, "service.json"),
  home: join(folder, "pulumi-home"),
  backend: join(folder, "backend"),
  stack: join(folder, "stack"),
  passphrase: join(folder, "passphrase"),
  temporary: join(folder, "tmp"),
};

/** The quickstart's stack. */
export const stackName = "local";

/** Creates missing folders and the passphrase that encrypts the stack's secrets. */
export async function createFolders() {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const path of [paths.home, paths.backend, paths.stack, paths.temporary]) await mkdir(path, { recursive: true });
  if ((await readFile(paths.passphrase, "utf8").catch(() => "")) === "") {
    await writeFile(paths.passphrase, randomBytes(32).toString("hex"), { mode: 0o600 });
  }
}

/**
 * Environment for the CLI with the quickstart's stack and service only: no Pulumi settings of the user, and no address
 * or key of another service.
 * @param {import("../cli/folder.mjs").Cli} cli
 * @param {import("./local-service.mjs").ServiceAccess | undefined} service
 * @returns {NodeJS.ProcessEnv}
 */
export function quickstartEnvironment(cli, service) {
  const environment = Object.entries(process.env).filter(([name]) => !/^(PULUMI|SERVERLESS_COMPUTE)_/.test(name));
  return {
    ...withCliOnPath(cli, Object.fromEntries(environment)),
    PULUMI_HOME: paths.home,
    // The language host does not delete its pipes; `--clean` removes them.
    TMPDIR: paths.temporary,
    PULUMI_BACKEND_URL: `file://${paths.backend}`,
    PULUMI_CONFIG_PASSPHRASE_FILE: paths.passphrase,
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    DO_NOT_TRACK: "1",
    ...(service && {
      SERVERLESS_COMPUTE_URL: service.serverlessUrl,
      SERVERLESS_COMPUTE_API_KEY: service.apiKey,
    }),
  };
}
