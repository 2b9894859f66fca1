import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { measureBurst } from "./burst";
import { measureColdStart } from "./cold-start";
import { measureJobs } from "./jobs";
import { measureMemory } from "./memory";
import { type Part, parts, type Results, tablesOf } from "./page";
import { measureQueue } from "./queue";

const isPart = (text: string): text is Part => parts.some((part) => part === text);

/**
 * `npm run bench [-- <part>…] [--quick] [--json FILE]`: measures the local service and prints the tables. `--quick` runs every
 * part short, to show that it works.
 */
async function measure(chosen: readonly Part[], quick: boolean): Promise<Results> {
  const machine = { node: process.versions.node, cores: cpus().length, load: loadavg()[0] ?? 0 };
  const results: Results = { machine };
  for (const part of chosen) {
    console.error(`Measuring ${part} …`);
    if (part === "jobs")
      results.jobs = await measureJobs(
        quick ? { rounds: 1, seconds: 1, warmUp: 0 } : { rounds: 5, seconds: 3, warmUp: 2 },
      );
    if (part === "burst") results.burst = await measureBurst();
    if (part === "queue") results.queue = await measureQueue(quick ? [1000, 5000] : [1000, 100_000, 1_000_000]);
    if (part === "memory") results.memory = quick ? await measureMemory(1, 2000) : await measureMemory(3, 100_000);
    if (part === "start") results.start = await measureColdStart(quick ? 1 : 9);
  }
  return results;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { quick: { type: "boolean", default: false }, json: { type: "string" } },
  });
  const unknown = positionals.find((text) => !isPart(text));
  if (unknown !== undefined) throw new Error(`unknown part "${unknown}": choose from ${parts.join(", ")}`);
  const chosen = positionals.length > 0 ? positionals.filter(isPart) : parts;
  const results = await measure(chosen, values.quick);
  const tables = tablesOf(results);
  console.log([...tables.values()].join("\n"));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, undefined, 2)}\n`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
