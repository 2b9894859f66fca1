import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { run } from "../scripts/child.mjs";
import { measureBurst } from "./burst";
import { measureColdStart } from "./cold-start";
import { measureDeploy } from "./deploy";
import type { Peer } from "./deploy-programs";
import { exceededRatios } from "./deploy-results";
import { measureFirstJob } from "./first-job";
import { measureJobs } from "./jobs";
import { measureLags } from "./lags";
import { measureMemory } from "./memory";
import { type Part, parts, type Results, type SavedResults, tablesOf } from "./page";
import { measureQueue } from "./queue";

type DeployChoice = Parameters<typeof measureDeploy>[0];

const isPart = (text: string): text is Part => parts.some((part) => part === text);

/**
 * `npm run bench [-- <part>…] [--quick] [--json FILE] [--save]`: measures the local service and prints the tables. `--quick`
 * shortens every part, and fails if a deployment is slower than its limit allows. `--save` writes the deployments to results.json, from
 * which `npm run generate` writes their tables in docs/performance.md. Options of `deploy`: `--executable FILE` also measures
 * the plugin's executable, `--peer FILE --peer-program FILE` another provider, `--floor` the package with lifecycles
 * that return immediately. `--sizes 3,99`, `--rounds 9` and `--plugin-only` select the measurements.
 */
async function measure(selected: readonly Part[], quick: boolean, deploy: DeployChoice): Promise<Results> {
  const machine = { node: process.versions.node, cores: cpus().length, load: loadavg()[0] ?? 0 };
  const results: Results = { machine };
  for (const part of selected) {
    console.error(`Measuring ${part} …`);
    if (part === "jobs")
      results.jobs = await measureJobs(
        quick ? { rounds: 1, seconds: 1, warmUp: 0 } : { rounds: 5, seconds: 3, warmUp: 10 },
      );
    if (part === "burst") results.burst = await measureBurst();
    if (part === "queue") results.queue = await measureQueue(quick ? [1000, 5000] : [1000, 100_000, 1_000_000]);
    if (part === "memory") results.memory = quick ? await measureMemory(1, 2000) : await measureMemory(3, 100_000);
    if (part === "deploy")
      results.deploy = await measureDeploy(quick ? { ...deploy, sizes: [99], rounds: 3, floor: true } : deploy);
    if (part === "lags") results.lags = await measureLags(quick);
    if (part === "first-job") results.firstJob = await measureFirstJob(quick ? 1 : 9, !quick);
    if (part === "start") results.start = quick ? await measureColdStart(1, 0) : await measureColdStart(9, 45);
  }
  return results;
}

const writeJson = (path: string, value: object): void =>
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`);

/** Writes the deployments to the file from which docs/performance.md is generated. */
async function save({ machine, deploy }: Results): Promise<void> {
  if (!deploy) throw new Error("--save requires the part deploy");
  const { stdout } = await run("git", ["rev-parse", "--short=8", "HEAD"], { cwd: __dirname });
  const results: SavedResults = { date: new Date().toISOString().slice(0, 10), commit: stdout.trim(), machine, deploy };
  writeJson(join(__dirname, "results.json"), results);
}

function peerOf(path: string | undefined, program: string | undefined): Peer | undefined {
  if (path === undefined && program === undefined) return undefined;
  if (path === undefined || program === undefined) throw new Error("--peer and --peer-program go together");
  return { path: resolve(path), program: readFileSync(program, "utf8") };
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "string" },
      save: { type: "boolean", default: false },
      sizes: { type: "string", default: "3,99,300,1000" },
      rounds: { type: "string", default: "9" },
      executable: { type: "string" },
      floor: { type: "boolean", default: false },
      "plugin-only": { type: "boolean", default: false },
      peer: { type: "string" },
      "peer-program": { type: "string" },
    },
  });
  const unknown = positionals.find((text) => !isPart(text));
  if (unknown !== undefined) throw new Error(`unknown part "${unknown}": choose from ${parts.join(", ")}`);
  const selected = positionals.length > 0 ? positionals.filter(isPart) : parts;
  const results = await measure(selected, values.quick, {
    sizes: values.sizes.split(",").map(Number),
    rounds: Number(values.rounds),
    executable: values.executable && resolve(values.executable),
    floor: values.floor,
    pluginOnly: values["plugin-only"],
    peer: peerOf(values.peer, values["peer-program"]),
  });
  const tables = tablesOf(results);
  console.log([...tables.values()].join("\n"));
  if (values.json !== undefined) writeJson(values.json, results);
  if (values.save) await save(results);
  const exceeded = values.quick ? exceededRatios(results.deploy ?? []) : [];
  if (exceeded.length > 0) throw new Error(`Slower than the limits allow:\n${exceeded.join("\n")}`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
