import { readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { expect, inject } from "vitest";
import { z } from "zod";
import { run } from "../../scripts/child.mjs";
import { withCliOnPath } from "../../scripts/cli/cli.mjs";
import { type Events, readEvents } from "./engine-events";
import { type Artefact, expectNoSecretIn, registerSecret } from "./secret-scan";

/** Result of one CLI command. */
export interface Run extends Events {
  code: number | null;
  /** Standard output and standard error. */
  output: string;
  /** Times of its start and end, by Date.now(). */
  startTime: number;
  endTime: number;
}

export interface RunOptions {
  /** Additional variables for the stack's environment. */
  env?: Record<string, string>;
  /** An abort sends Ctrl-C. */
  interrupt?: AbortSignal;
  args?: string[];
  /** The required end of the command, success by default; any other end fails the test with the command's output. */
  end?: "success" | "failure" | "any";
}

const resourceShape = z.looseObject({
  type: z.string(),
  urn: z.string(),
  id: z.string().optional(),
  inputs: z.record(z.string(), z.unknown()).optional(),
  outputs: z.record(z.string(), z.unknown()).optional(),
  initErrors: z.array(z.string()).optional(),
});
/** A resource in the state file. */
type StateResource = z.output<typeof resourceShape>;
const stateShape = z.looseObject({
  checkpoint: z.looseObject({
    latest: z.looseObject({
      resources: z.array(resourceShape).nullish(),
      pending_operations: z.array(z.unknown()).nullish(),
    }),
  }),
});

const manifestShape = z.looseObject({ version: z.string() });

/** A program with its own stack: own Pulumi home and backend, isolated from the user's. */
export interface Stack {
  /** Folder of all files of the stack. */
  folder: string;
  /** Replaces the program: the text of index.js, or the part of Pulumi.yaml after the project's settings. */
  writeProgram(text: string): Promise<void>;
  up(options?: RunOptions): Promise<Run>;
  preview(options?: RunOptions): Promise<Run>;
  refresh(options?: RunOptions): Promise<Run>;
  destroy(options?: RunOptions): Promise<Run>;
  /** Any other command of the CLI. */
  command(args: string[], options?: RunOptions): Promise<Run>;
  /** Runs `serverless-compute` in the program's folder; `env` is added to the stack's environment. */
  tool(args: string[], env?: Record<string, string>): Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** The provider's resources in state, without provider instances and the stack. */
  resources(): Promise<StateResource[]>;
  /** Text of every file below the stack's folder, by path. */
  files(): Promise<Map<string, string>>;
  /** Gives this program its own copy of the package, changed by `edit` in its folder. */
  upgrade(name: string, edit: (folder: string) => Promise<void>): Promise<void>;
  /** Removes the stack; fails if its output or files, except the program, contain a secret. */
  remove(): Promise<void>;
}

/** The SDK's debug messages contain every response in plain text and appear only on request. */
export const withoutDebugMessages = (text: string): string =>
  text
    .split("\n")
    .filter((line) => !line.includes('"severity":"debug"'))
    .join("\n");

/** Settings of a stack's project; by default a Node program with dynamic resources. */
interface Project {
  /** Name of the project; "shop" by default. */
  name?: string;
  /** Folder of the plugin that serves the resources. */
  plugin?: string;
  runtime?: "nodejs" | "yaml";
  /** Folder of an example used as the project; `program` has no effect then. */
  example?: string;
}

/** Version of the package, and so of the plugin. */
export const { version: pluginVersion } = manifestShape.parse(
  JSON.parse(readFileSync(new URL("../../provider/package.json", import.meta.url), "utf8")),
);

/** Plugin lines of Pulumi.yaml. With a version, the engine caches the schema and starts no process to get it. */
export const pluginLines = (folder: string, version = pluginVersion): string =>
  `plugins:\n  providers:\n    - name: serverless-compute\n      path: ${folder}\n      version: ${version}\n`;

/** Creates a stack; `environment` is added to PATH and Pulumi's settings in the environment of its commands. */
export async function createStack(environment: Record<string, string>, project: Project = {}): Promise<Stack> {
  const cli = inject("cli");
  const packed = inject("packed");
  await mkdir(join(packed, "stacks"), { recursive: true });
  const folder = await mkdtemp(join(packed, "stacks", "stack-"));
  const programFolder = join(folder, "program");
  const backend = join(folder, "backend");
  const temporary = join(folder, "tmp");
  await Promise.all([mkdir(programFolder), mkdir(backend), mkdir(temporary)]);
  const { plugin, runtime = "nodejs", example, name: projectName = "shop" } = project;
  const plugins = plugin ? pluginLines(plugin) : "";
  const header = `name: ${projectName}\nruntime: ${runtime}\n${plugins}`;
  const programFile = runtime === "yaml" ? "Pulumi.yaml" : "index.js";
  if (example) {
    // Files that a user may have left in the example's folder.
    const leftFiles = /[\\/](node_modules|sdks|venv|__pycache__|Pulumi\.\w+\.yaml)$/;
    await cp(example, programFolder, { recursive: true, filter: (path) => !leftFiles.test(path) });
  } else {
    await writeFile(join(programFolder, "Pulumi.yaml"), header);
    await writeFile(join(programFolder, "package.json"), '{ "name": "shop", "private": true }\n');
  }
  const [, name = ""] = /^name: (\S+)$/m.exec(await readFile(join(programFolder, "Pulumi.yaml"), "utf8")) ?? [];

  const { PATH = "", HOME = folder } = process.env;
  const env = withCliOnPath(cli, {
    PATH,
    HOME,
    PULUMI_HOME: join(folder, "home"),
    // The language host does not delete its pipes; here, they are deleted with the stack.
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

  registerSecret(environment["SERVERLESS_COMPUTE_API_KEY"] ?? "", "the API key");
  const outputs: Artefact[] = [];
  let count = 0;
  const command = async (args: string[], options: RunOptions = {}, logs = false): Promise<Run> => {
    count += 1;
    const log = join(folder, `events-${count}.json`);
    const startTime = Date.now();
    const { code, stdout, stderr, timedOut } = await run(
      cli.command,
      [...args, "--non-interactive", ...(logs ? ["--event-log", log] : []), ...(options.args ?? [])],
      {
        cwd: programFolder,
        env: { ...env, ...options.env },
        // The release of a template takes two minutes.
        timeout: 170_000,
        ...(options.interrupt ? { interrupt: options.interrupt } : {}),
      },
    );
    const output = `${stdout}${stderr}`;
    outputs.push([`the output of pulumi ${args[0]}`, output]);
    if (timedOut) throw new Error(`pulumi ${args.join(" ")} did not end within 120 s:\n${output}`);
    const { end = "success" } = options;
    if (end !== "any") expect(code === 0 ? "success" : "failure", output).toBe(end);
    const events = logs ? await readFile(log, "utf8").catch(() => "") : "";
    return { code, output, startTime, endTime: Date.now(), ...readEvents(events, args[0] === "preview") };
  };

  const init = await command(["stack", "init", "dev"]);
  if (init.code !== 0) throw new Error(`the stack could not be created:\n${init.output}`);

  const files = async (): Promise<Map<string, string>> => {
    const paths = await readdir(folder, { recursive: true, withFileTypes: true });
    const filePaths = paths.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const texts = filePaths.map(async (file): Promise<[string, string]> => [file, await readFile(file, "latin1")]);
    return new Map(await Promise.all(texts));
  };

  return {
    folder,
    writeProgram: (text) => writeFile(join(programFolder, programFile), runtime === "yaml" ? `${header}${text}` : text),
    up: (options) => command(["up", "--yes", "--skip-preview"], options, true),
    preview: (options) => command(["preview"], options, true),
    refresh: (options) => command(["refresh", "--yes", "--skip-preview"], options, true),
    destroy: (options) => command(["destroy", "--yes", "--skip-preview"], options, true),
    command: (args, options) => command(args, options),
    tool: async (args, own = {}) => {
      const bin = join(packed, "node_modules", "pulumi-serverless-compute", "bin", "serverless-compute");
      const { code, stdout, stderr } = await run(bin, args, {
        cwd: programFolder,
        env: { ...env, ...own },
        timeout: 120_000,
      });
      outputs.push([`the output of serverless-compute ${args[0]}`, `${stdout}${stderr}`]);
      return { code, stdout, stderr };
    },
    resources: async () => {
      const text = await readFile(join(backend, ".pulumi", "stacks", name, "dev.json"), "utf8");
      const { resources } = stateShape.parse(JSON.parse(text)).checkpoint.latest;
      return (resources ?? []).filter(({ type }) => /dynamic\/serverless|^serverless-compute:index:/.test(type));
    },
    files,
    upgrade: async (name, edit) => {
      const packageFolder = join(programFolder, "node_modules", name);
      await cp(join(packed, "node_modules", name), packageFolder, { recursive: true });
      await edit(packageFolder);
    },
    remove: async () => {
      try {
        const isStackFile = (path: string): boolean => !/[\\/]program[\\/](?!Pulumi\.\w+\.yaml$)/.test(path);
        const leftFiles = [...(await files())].filter(([path]) => isStackFile(path));
        expectNoSecretIn([
          ...outputs,
          ...leftFiles.map(([path, text]): Artefact => [relative(folder, path), withoutDebugMessages(text)]),
        ]);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}
