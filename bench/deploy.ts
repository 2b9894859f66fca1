import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { run } from "../scripts/child.mjs";
import { findCli, withCliOnPath } from "../scripts/cli/cli.mjs";
import { findHost } from "../scripts/cli/hosts.mjs";
import { createProgress } from "../scripts/progress.mjs";
import { ended, startService } from "./service";
import { median } from "./statistics";

const root = join(__dirname, "..");
const { version } = require("../provider/package.json");

/** The commands of a round, in this order. */
export const steps = ["up", "preview", "refresh", "destroy"] as const;
type Step = (typeof steps)[number];

/** One provider's medians for a number of resources. */
export interface DeployRow {
  by: string;
  resources: number;
  /** Seconds of each command, from its start to its end. */
  seconds: Record<Step, number>;
  /** The first contestant's time divided by this one's, pair by pair; the median. */
  ratio?: Record<Step, number>;
}

/** Another provider to measure beside ours, on the same service. */
export interface Peer {
  /** Its executable, `pulumi-resource-<name>`. */
  path: string;
  /**
   * A YAML program: what stands before the line `---` once (Pulumi.yaml without name, runtime and plugins), what stands
   * after it for each three resources, with `{i}` for their number. `{graphqlUrl}`, `{baseUrl}` and `{apiKey}` are filled in.
   */
  program: string;
}

interface Contestant {
  name: string;
  /** Writes the program of `count` resources into its folder. */
  write(folder: string, count: number): Promise<void>;
}

const commands: Record<Step, string[]> = {
  up: ["up", "--yes", "--skip-preview"],
  preview: ["preview"],
  refresh: ["refresh", "--yes", "--skip-preview"],
  destroy: ["destroy", "--yes", "--skip-preview"],
};

/** A volume, a template and an endpoint with both. */
const triple = (i: number): string => `
  volume${i}:
    type: serverless-compute:NetworkVolume
    properties: { name: volume-${i}, size: 10, dataCenterId: EU-RO-1 }
  template${i}:
    type: serverless-compute:Template
    properties: { name: template-${i}, imageName: "acme/echo:1", containerDiskInGb: 5, env: { MODEL: small } }
  endpoint${i}:
    type: serverless-compute:ServerlessEndpoint
    properties: { name: endpoint-${i}, templateId: "\${template${i}.id}", networkVolumeId: "\${volume${i}.id}", workersMax: 0 }
`;

const numbers = (count: number): number[] => Array.from({ length: Math.ceil(count / 3) }, (_, index) => index);

const yaml = (plugin: string, of: string, folder: string, rest: string): string =>
  `name: bench\nruntime: yaml\nplugins:\n  providers:\n    - name: ${plugin}\n      path: ${folder}\n      version: ${of}\n${rest}`;

/** The same resources in JavaScript, through dynamic resources. */
const program = (count: number): string => `
const { NetworkVolume, ServerlessEndpoint, Template } = require("pulumi-serverless-compute");
for (let i = 0; i < ${Math.ceil(count / 3)}; i++) {
  const volume = new NetworkVolume(\`volume\${i}\`, { name: \`volume-\${i}\`, size: 10, dataCenterId: "EU-RO-1" });
  const template = new Template(\`template\${i}\`, { name: \`template-\${i}\`, imageName: "acme/echo:1", containerDiskInGb: 5, env: { MODEL: "small" } });
  new ServerlessEndpoint(\`endpoint\${i}\`, { name: \`endpoint-\${i}\`, templateId: template.id, networkVolumeId: volume.id, workersMax: 0 });
}
`;

const viaPlugin = (name: string, folder: string): Contestant => ({
  name,
  write: (target, count) =>
    writeFile(
      join(target, "Pulumi.yaml"),
      yaml("serverless-compute", version, folder, `resources:${numbers(count).map(triple).join("")}`),
    ),
});

const viaDynamic: Contestant = {
  name: "dynamic resources",
  write: async (target, count) => {
    await writeFile(join(target, "Pulumi.yaml"), "name: bench\nruntime: nodejs\n");
    await writeFile(join(target, "package.json"), "{}");
    await writeFile(join(target, "index.js"), program(count));
    await mkdir(join(target, "node_modules"), { recursive: true });
    for (const name of ["pulumi-serverless-compute", "@pulumi"]) {
      await symlink(join(root, "node_modules", name), join(target, "node_modules", name)).catch(() => {});
    }
  },
};

function viaPeer({ path, program }: Peer): Contestant {
  const [head = "", each = ""] = program.split(/^---\n/m);
  const plugin = basename(path).replace(/^pulumi-resource-/, "");
  return {
    name: "peer",
    write: (target, count) => {
      const units = numbers(count).map((i) => each.replaceAll("{i}", String(i)));
      const rest = `${head}resources:\n${units.join("")}`;
      return writeFile(join(target, "Pulumi.yaml"), yaml(plugin, "0.0.1", dirname(path), rest));
    },
  };
}

/** What a contestant's program is run with. */
interface Setting {
  pulumi: string;
  env: NodeJS.ProcessEnv;
}

/** Runs one command; its seconds. A command that fails ends the measurement. */
async function timed({ pulumi, env }: Setting, cwd: string, args: string[]): Promise<number> {
  const began = performance.now();
  const { code, stdout, stderr } = await run(pulumi, [...args, "--non-interactive"], { cwd, env, timeout: 300_000 });
  if (code !== 0) throw new Error(`pulumi ${args.join(" ")} failed:\n${stdout}${stderr}`);
  return (performance.now() - began) / 1000;
}

/** All commands once, on a stack of its own. */
async function round(
  contestant: Contestant,
  count: number,
  work: string,
  setting: Setting,
): Promise<Record<Step, number>> {
  const folder = join(work, contestant.name.replaceAll(" ", "-"), String(count));
  await rm(folder, { recursive: true, force: true });
  const backend = join(folder, "backend");
  const target = join(folder, "program");
  await mkdir(backend, { recursive: true });
  await mkdir(target);
  await contestant.write(target, count);
  const own = { ...setting, env: { ...setting.env, PULUMI_BACKEND_URL: `file://${backend}` } };
  await timed(own, target, ["stack", "init", "dev"]);
  const seconds: Record<Step, number> = { up: 0, preview: 0, refresh: 0, destroy: 0 };
  for (const step of steps) seconds[step] = await timed(own, target, commands[step]);
  return seconds;
}

const byStep = (read: (step: Step) => number): Record<Step, number> => ({
  ...{ up: read("up"), preview: read("preview"), refresh: read("refresh"), destroy: read("destroy") },
});

export interface DeployOptions {
  sizes: readonly number[];
  rounds: number;
  /** The executable of the plugin; its folder is what Pulumi.yaml names. Default: the one for Node. */
  plugin?: string | undefined;
  peer?: Peer | undefined;
  /** Leaves the dynamic resources out. */
  pluginOnly?: boolean;
}

/**
 * Deploys programs against a service of its own, every contestant in turn in each round, so that whatever else the machine
 * does meets all. NODE_EXTRA_CA_CERTS is unset for all of them; every program has the version of its plugin.
 */
export async function measureDeploy({ sizes, rounds, plugin, peer, pluginOnly }: DeployOptions): Promise<DeployRow[]> {
  const cli = await findCli({ progress: createProgress() });
  const host = await findHost("yaml", cli, { progress: createProgress() });
  const reason = "reason" in host ? host.reason : undefined;
  if (reason !== undefined) {
    if (peer || pluginOnly) throw new Error(reason);
    console.error(`Only dynamic resources are measured: ${reason}`);
  }
  const work = await mkdtemp(join(tmpdir(), "bench-deploy-"));
  const flags = ["--rate-limits", "off", "--template-release", "0"];
  const { child, baseUrl, serverlessUrl, apiKeyFile } = await startService(join(work, "data"), flags);
  try {
    const apiKey = (await readFile(apiKeyFile, "utf8")).trim();
    const graphqlUrl = `${new URL(baseUrl).origin}/graphql`;
    const { NODE_EXTRA_CA_CERTS: _unset, ...env } = process.env;
    const setting = {
      pulumi: cli.command,
      env: withCliOnPath(cli, {
        ...env,
        PATH: "folder" in host ? `${host.folder}:${env["PATH"]}` : env["PATH"],
        PULUMI_HOME: join(work, "home"),
        ...{ PULUMI_CONFIG_PASSPHRASE: "bench", PULUMI_SKIP_UPDATE_CHECK: "true", DO_NOT_TRACK: "1", NO_COLOR: "1" },
        PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
        ...{ SERVERLESS_COMPUTE_API_KEY: apiKey, SERVERLESS_COMPUTE_BASE_URL: baseUrl },
        ...{ SERVERLESS_COMPUTE_GRAPHQL_URL: graphqlUrl, SERVERLESS_COMPUTE_SERVERLESS_URL: serverlessUrl },
      }),
    };
    const filled = peer && {
      ...peer,
      program: peer.program
        .replaceAll("{graphqlUrl}", graphqlUrl)
        .replaceAll("{baseUrl}", baseUrl)
        .replaceAll("{apiKey}", apiKey),
    };
    const contestants = [
      ...(reason === undefined ? [viaPlugin("plugin", plugin ? dirname(plugin) : join(root, "provider", "bin"))] : []),
      ...(filled ? [viaPeer(filled)] : []),
      ...(pluginOnly ? [] : [viaDynamic]),
    ];
    const rows: DeployRow[] = [];
    for (const resources of sizes) {
      const all = new Map<Contestant, Record<Step, number>[]>(contestants.map((one) => [one, []]));
      // The first round fills the caches of files and of the schema.
      for (let at = 0; at <= rounds; at++) {
        for (const one of contestants) {
          const seconds = await round(one, resources, work, setting);
          if (at > 0 || rounds === 0) all.get(one)?.push(seconds);
        }
      }
      const [first = []] = all.values();
      for (const [one, measured] of all) {
        const seconds = byStep((step) => median(measured.map((each) => each[step])));
        const ratio = byStep((step) => median(measured.map((each, index) => (first[index]?.[step] ?? 0) / each[step])));
        rows.push({ by: one.name, resources, seconds, ...(measured === first ? {} : { ratio }) });
      }
    }
    return rows;
  } finally {
    await ended(child);
    await rm(work, { recursive: true, force: true });
  }
}
