import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { run } from "../scripts/child.mjs";
import { findCli, withCliOnPath } from "../scripts/cli/cli.mjs";
import { findHost } from "../scripts/cli/hosts.mjs";
import { createProgress } from "../scripts/progress.mjs";
import { type Contestant, type Peer, viaDynamic, viaPeer, viaPlugin } from "./deploy-programs";
import type { DeployRow, Step, Usage } from "./deploy-results";
import { type Counter, startCounter, watchProcesses } from "./deploy-usage";
import { createFloor } from "./floor";
import { stopProcess } from "./processes";
import { startService } from "./service";
import { median } from "./statistics";

const root = join(__dirname, "..");

const commands: Record<Step, string[]> = {
  up: ["up", "--yes", "--skip-preview"],
  preview: ["preview"],
  refresh: ["refresh", "--yes", "--skip-preview"],
  destroy: ["destroy", "--yes", "--skip-preview"],
};

/** Environment and settings for running a contestant's program. */
interface Setting {
  pulumi: string;
  env: NodeJS.ProcessEnv;
}

/** Runs a command and returns its duration, s. A failed command ends the measurement. */
async function timed({ pulumi, env }: Setting, cwd: string, args: string[]): Promise<number> {
  const startTime = performance.now();
  const { code, stdout, stderr } = await run(pulumi, [...args, "--non-interactive"], { cwd, env, timeout: 300_000 });
  if (code !== 0) throw new Error(`pulumi ${args.join(" ")} failed:\n${stdout}${stderr}`);
  return (performance.now() - startTime) / 1000;
}

/** Runs all commands once on a new stack. `around` receives each command and the stack's folder. */
async function round<Result>(
  contestant: Contestant,
  count: number,
  work: string,
  setting: Setting,
  around: (command: () => Promise<number>, folder: string) => Promise<Result>,
): Promise<Record<Step, Result>> {
  const folder = join(work, contestant.name.replaceAll(" ", "-"), String(count));
  await rm(folder, { recursive: true, force: true });
  const backend = join(folder, "backend");
  const target = join(folder, "program");
  await mkdir(backend, { recursive: true });
  await mkdir(target);
  await contestant.write(target, count);
  const ownSetting = { ...setting, env: { ...setting.env, PULUMI_BACKEND_URL: `file://${backend}` } };
  await timed(ownSetting, target, ["stack", "init", "dev"]);
  const run = (step: Step): Promise<Result> => around(() => timed(ownSetting, target, commands[step]), folder);
  return {
    up: await run("up"),
    preview: await run("preview"),
    refresh: await run("refresh"),
    destroy: await run("destroy"),
  };
}

/** Runs the same round through the counting proxy and samples the processes; its times are not meaningful. */
function usageOf(
  contestant: Contestant,
  count: number,
  work: string,
  { pulumi, env }: Setting,
  counter: Counter,
  service: number,
) {
  const url = env["SERVERLESS_COMPUTE_URL"] ?? "";
  const counted = Object.entries(env).map(([name, value]) => [name, value?.replace(url, counter.origin)]);
  return round(
    contestant,
    count,
    work,
    { pulumi, env: Object.fromEntries(counted) },
    async (command, folder): Promise<Usage> => {
      const end = await watchProcesses(folder, service);
      counter.drain();
      await command();
      return { requests: counter.drain(), ...(await end()) };
    },
  );
}

const byStep = (read: (step: Step) => number): Record<Step, number> => ({
  up: read("up"),
  preview: read("preview"),
  refresh: read("refresh"),
  destroy: read("destroy"),
});

export interface DeployOptions {
  sizes: readonly number[];
  rounds: number;
  /** Executable of the plugin that requires no Node, measured next to the npm package's plugin. */
  executable?: string | undefined;
  peer?: Peer | undefined;
  /** Also measures the same package with lifecycles that return immediately. */
  floor?: boolean;
  /** Skips the dynamic provider. */
  pluginOnly?: boolean;
}

/**
 * Deploys programs to a local service, interleaving all contestants in each round, so that other load on the machine affects
 * all equally. The plugin is compared with the other provider or the floor, the dynamic provider with the floor.
 * NODE_EXTRA_CA_CERTS is unset for all. Every program uses the version of its plugin.
 */
export async function measureDeploy(options: DeployOptions): Promise<DeployRow[]> {
  const { sizes, rounds, executable, peer, floor, pluginOnly } = options;
  const cli = await findCli({ progress: createProgress() });
  const host = await findHost("yaml", cli, { progress: createProgress() });
  const reason = "reason" in host ? host.reason : undefined;
  if (reason !== undefined) {
    if (peer || pluginOnly) throw new Error(reason);
    console.error(`Only dynamic resources are measured: ${reason}`);
  }
  const work = await mkdtemp(join(tmpdir(), "bench-deploy-"));
  const flags = ["--rate-limits", "off", "--template-release", "0"];
  const cleanups: (() => unknown)[] = [];
  const { child, pid, url, apiKeyFile } = await startService(join(work, "data"), flags);
  try {
    const apiKey = (await readFile(apiKeyFile, "utf8")).trim();
    const { NODE_EXTRA_CA_CERTS: _unset, ...env } = process.env;
    const setting = {
      pulumi: cli.command,
      env: withCliOnPath(cli, {
        ...env,
        PATH: "folder" in host ? `${host.folder}:${env["PATH"]}` : env["PATH"],
        PULUMI_HOME: join(work, "home"),
        PULUMI_CONFIG_PASSPHRASE: "bench",
        PULUMI_SKIP_UPDATE_CHECK: "true",
        DO_NOT_TRACK: "1",
        NO_COLOR: "1",
        PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
        // Variables of the official provider.
        RUNPOD_API_KEY: apiKey,
        RUNPOD_API_URL: `${url}/graphql`,
        SERVERLESS_COMPUTE_API_KEY: apiKey,
        SERVERLESS_COMPUTE_URL: url,
      }),
    };
    const provider = join(root, "provider");
    // Inside the repository, so that its packages resolve.
    await mkdir(join(root, ".serverless-compute"), { recursive: true });
    const floorFolder = await mkdtemp(join(root, ".serverless-compute", "floor-"));
    cleanups.push(() => rm(floorFolder, { recursive: true, force: true }));
    if (floor) await createFloor(floorFolder);
    const plugins = reason === undefined;
    const contestants = [
      ...(peer ? [viaPeer(peer)] : []),
      ...(floor && plugins ? [viaPlugin("floor of the plugin", join(floorFolder, "bin"))] : []),
      ...(executable ? [viaPlugin("executable", dirname(executable))] : []),
      ...(plugins ? [viaPlugin("plugin under Node", join(provider, "bin"))] : []),
      ...(floor && !pluginOnly ? [viaDynamic("floor of dynamic resources", floorFolder)] : []),
      ...(pluginOnly ? [] : [viaDynamic("dynamic resources", provider)]),
    ];
    const references: Record<string, Contestant | undefined> = {
      executable: contestants[0],
      "plugin under Node": contestants[0],
      "dynamic resources": contestants.find(({ name }) => name === "floor of dynamic resources"),
    };
    const counter = await startCounter(url);
    cleanups.push(() => counter.close());
    const rows: DeployRow[] = [];
    for (const resources of sizes) {
      const measurements = new Map<Contestant, Record<Step, number>[]>(
        contestants.map((contestant) => [contestant, []]),
      );
      // The first round warms the file and schema caches.
      for (let at = 0; at <= rounds; at++) {
        for (const contestant of contestants) {
          const seconds = await round(contestant, resources, work, setting, (command) => command());
          if (at > 0 || rounds === 0) measurements.get(contestant)?.push(seconds);
        }
      }
      for (const [contestant, measured] of measurements) {
        const seconds = byStep((step) => median(measured.map((each) => each[step])));
        const usage = await usageOf(contestant, resources, work, setting, counter, pid);
        const reference = references[contestant.name];
        const referenceTimes = reference && reference !== contestant ? measurements.get(reference) : undefined;
        const ratio = reference &&
          referenceTimes && {
            to: reference.name,
            of: byStep((step) =>
              median(measured.map((each, index) => each[step] / (referenceTimes[index]?.[step] ?? 0))),
            ),
          };
        rows.push({ by: contestant.name, resources, seconds, usage, ...(ratio ? { ratio } : {}) });
      }
    }
    return rows;
  } finally {
    for (const close of cleanups) await close();
    await stopProcess(child);
    await rm(work, { recursive: true, force: true });
  }
}
