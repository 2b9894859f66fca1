import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";
import { z } from "zod";
import { run } from "../../scripts/child.mjs";
import { withCliOnPath } from "../../scripts/cli.mjs";
import { type Events, readEvents } from "./engine-events";

/** What one command of the CLI did. */
export interface Run extends Events {
  code: number | null;
  /** Everything it printed. */
  output: string;
  /** When it started and ended, by Date.now(). */
  started: number;
  ended: number;
}

export interface RunOptions {
  /** Added to the stack's environment. */
  env?: Record<string, string>;
  /** Aborting is a Ctrl-C. */
  interrupt?: AbortSignal;
  args?: string[];
}

const resourceShape = z.looseObject({
  type: z.string(),
  urn: z.string(),
  id: z.string().optional(),
  inputs: z.record(z.string(), z.unknown()).optional(),
  outputs: z.record(z.string(), z.unknown()).optional(),
  initErrors: z.array(z.string()).optional(),
});
/** A resource as the state file holds it. */
export type StateResource = z.output<typeof resourceShape>;
const stateShape = z.looseObject({
  checkpoint: z.looseObject({
    latest: z.looseObject({
      resources: z.array(resourceShape).nullish(),
      pending_operations: z.array(z.unknown()).nullish(),
    }),
  }),
});

/** A program with a stack of its own: own Pulumi home, own backend, nothing shared with the person who runs the tests. */
export interface Stack {
  /** Everything of it is below this folder. */
  folder: string;
  /** Replaces the program: the text of its index.js, or what follows the project's settings in Pulumi.yaml. */
  program(text: string): Promise<void>;
  up(options?: RunOptions): Promise<Run>;
  preview(options?: RunOptions): Promise<Run>;
  refresh(options?: RunOptions): Promise<Run>;
  destroy(options?: RunOptions): Promise<Run>;
  /** Any other command of the CLI. */
  command(args: string[], options?: RunOptions): Promise<Run>;
  /** Our resources in state, the default provider and the stack left out. */
  resources(): Promise<StateResource[]>;
  /** Text of every file below the stack's folder, by path: where a secret must not be. */
  files(): Promise<Map<string, string>>;
  /** Gives this program a package of its own, changed by `edit` in its folder. */
  upgrade(name: string, edit: (folder: string) => Promise<void>): Promise<void>;
  remove(): Promise<void>;
}

/** How a stack's project is set up, where it is no ordinary Node program with dynamic resources. */
export interface Project {
  /** Folder of the plugin that serves the resources. */
  plugin?: string;
  runtime?: "nodejs" | "yaml";
}

/** Makes a stack; `environment` is what its commands see besides PATH and Pulumi's own settings. */
export async function createStack(environment: Record<string, string>, project: Project = {}): Promise<Stack> {
  const cli = inject("cli");
  const packed = inject("packed");
  await mkdir(join(packed, "stacks"), { recursive: true });
  const folder = await mkdtemp(join(packed, "stacks", "stack-"));
  const programFolder = join(folder, "program");
  const backend = join(folder, "backend");
  const temporary = join(folder, "tmp");
  await Promise.all([mkdir(programFolder), mkdir(backend), mkdir(temporary)]);
  const { plugin, runtime = "nodejs" } = project;
  const plugins = plugin ? `plugins:\n  providers:\n    - name: serverless-compute\n      path: ${plugin}\n` : "";
  const header = `name: shop\nruntime: ${runtime}\n${plugins}`;
  const programFile = runtime === "yaml" ? "Pulumi.yaml" : "index.js";
  await writeFile(join(programFolder, "Pulumi.yaml"), header);
  await writeFile(join(programFolder, "package.json"), '{ "name": "shop", "private": true }\n');

  const { PATH = "", HOME = folder } = process.env;
  const env = withCliOnPath(cli, {
    PATH,
    HOME,
    PULUMI_HOME: join(folder, "home"),
    // The language host leaves its pipes behind; here they go with the stack.
    TMPDIR: temporary,
    PULUMI_BACKEND_URL: `file://${backend}`,
    PULUMI_CONFIG_PASSPHRASE: "only for tests",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    PULUMI_DEBUG_COMMANDS: "true",
    DO_NOT_TRACK: "1",
    NO_COLOR: "1",
    ...environment,
  });

  let count = 0;
  const command = async (args: string[], options: RunOptions = {}, logs = false): Promise<Run> => {
    count += 1;
    const log = join(folder, `events-${count}.json`);
    const started = Date.now();
    const { code, stdout, stderr, timedOut } = await run(
      cli.command,
      [...args, "--non-interactive", ...(logs ? ["--event-log", log] : []), ...(options.args ?? [])],
      {
        cwd: programFolder,
        env: { ...env, ...options.env },
        timeout: 120_000,
        ...(options.interrupt ? { interrupt: options.interrupt } : {}),
      },
    );
    const output = `${stdout}${stderr}`;
    if (timedOut) throw new Error(`pulumi ${args.join(" ")} did not end within 120 s:\n${output}`);
    const events = logs ? await readFile(log, "utf8").catch(() => "") : "";
    return { code, output, started, ended: Date.now(), ...readEvents(events, args[0] === "preview") };
  };

  const init = await command(["stack", "init", "dev"]);
  if (init.code !== 0) throw new Error(`the stack could not be made:\n${init.output}`);

  return {
    folder,
    program: (text) => writeFile(join(programFolder, programFile), runtime === "yaml" ? `${header}${text}` : text),
    up: (options) => command(["up", "--yes", "--skip-preview"], options, true),
    preview: (options) => command(["preview"], options, true),
    refresh: (options) => command(["refresh", "--yes", "--skip-preview"], options, true),
    destroy: (options) => command(["destroy", "--yes", "--skip-preview"], options, true),
    command: (args, options) => command(args, options),
    resources: async () => {
      const text = await readFile(join(backend, ".pulumi", "stacks", "shop", "dev.json"), "utf8");
      const { resources } = stateShape.parse(JSON.parse(text)).checkpoint.latest;
      return (resources ?? []).filter(({ type }) => /dynamic\/serverless|^serverless-compute:index:/.test(type));
    },
    files: async () => {
      const paths = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = paths.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
      const texts = files.map(async (file): Promise<[string, string]> => [file, await readFile(file, "latin1")]);
      return new Map(await Promise.all(texts));
    },
    upgrade: async (name, edit) => {
      const own = join(programFolder, "node_modules", name);
      await cp(join(packed, "node_modules", name), own, { recursive: true });
      await edit(own);
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
