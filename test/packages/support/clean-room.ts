import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { inject } from "vitest";
import { type Finished, run } from "../../../scripts/child.mjs";
import { withCliOnPath } from "../../../scripts/cli/cli.mjs";
import { repository } from "../../plugin/support/sdk";

/** An empty folder outside the repository, whose commands find one version of Node and no files of the repository. */
export interface CleanRoom {
  folder: string;
  /** Environment of its commands. */
  env: NodeJS.ProcessEnv;
  write(name: string, text: string): Promise<void>;
  /** Runs a command in the folder; a bare name is resolved on PATH. */
  run(command: string, args: string[], env?: Record<string, string>): Promise<Finished>;
  /** Deletes the room; rejects if its commands left temporary files. */
  remove(): Promise<void>;
}

/** Creates a room whose `node` is that executable; npm is this run's, under that Node. */
export async function createCleanRoom(node: string): Promise<CleanRoom> {
  const folder = await mkdtemp(join(tmpdir(), "clean-room-"));
  // Keeps only the variables that locate the registry, without those of npm and the test runner.
  const runSpecificNames =
    /^(npm_(package|lifecycle|command|config_(local_)?prefix)|INIT_CWD|NODE_(?!EXTRA_CA_CERTS)|VITEST|TEST|SERVERLESS_|PULUMI_)/;
  const inheritedVariables = Object.entries(process.env).filter(([name]) => !runSpecificNames.test(name));
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((path) => !path.startsWith(repository));
  const env = withCliOnPath(inject("cli"), {
    ...Object.fromEntries(inheritedVariables),
    PATH: path.join(delimiter),
    TMPDIR: join(folder, "tmp"),
    PULUMI_HOME: join(folder, "home"),
    PULUMI_BACKEND_URL: `file://${join(folder, "backend")}`,
    PULUMI_CONFIG_PASSPHRASE: "only for tests",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    DO_NOT_TRACK: "1",
    NO_COLOR: "1",
  });
  env["PATH"] = [dirname(node), env["PATH"]].join(delimiter);
  await mkdir(join(folder, "backend"));
  await mkdir(join(folder, "tmp"));
  return {
    folder,
    env,
    write: (name, text) => writeFile(join(folder, name), text),
    run: (command, args, more = {}) => run(command, args, { cwd: folder, env: { ...env, ...more }, timeout: 280_000 }),
    async remove() {
      // Tools keep caches there. Our packages and examples, and the Automation API for them, must leave nothing.
      const temporary = (await readdir(join(folder, "tmp"))).filter((name) =>
        /^(serverless-compute|chat|automation)-/.test(name),
      );
      await rm(folder, { recursive: true, force: true });
      if (temporary.length > 0) throw new Error(`commands left temporary files: ${temporary.join(", ")}`);
    },
  };
}

/** The first program in TypeScript in a file of the repository. */
export async function codeOf(file: string): Promise<string> {
  const text = await readFile(join(repository, file), "utf8");
  const [, code] = /```ts\n(.*?)```/s.exec(text) ?? [];
  if (code === undefined) throw new Error(`${file} has no program in TypeScript`);
  return code;
}
