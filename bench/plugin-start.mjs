// How long the plugin takes from its start to its port, beside a bare `node -e 0`: started in turns, so that whatever else
// the machine does meets both. `node bench/plugin-start.mjs [pairs]`, after `npm run build`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const launcher = fileURLToPath(new URL("../provider/bin/pulumi-resource-serverless-compute", import.meta.url));
const pairs = Number(process.argv[2] ?? 30);

/** @param {number[]} values */
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

async function bare() {
  const began = performance.now();
  await once(spawn(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit");
  return performance.now() - began;
}

async function plugin() {
  const began = performance.now();
  const child = spawn(process.execPath, [launcher], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  const took = performance.now() - began;
  const memory = process.platform === "linux" ? readFileSync(`/proc/${child.pid}/status`, "utf8") : "";
  child.kill("SIGKILL");
  await once(child, "exit");
  return { took, rss: Number(/VmRSS:\s+(\d+)/.exec(memory)?.[1]) / 1024 };
}

const measured = [];
for (let pair = 0; pair < pairs; pair += 1) measured.push({ node: await bare(), ...(await plugin()) });
console.log(
  [
    `node -e 0      ${median(measured.map(({ node }) => node)).toFixed(0)} ms`,
    `plugin's port  ${median(measured.map(({ took }) => took)).toFixed(0)} ms`,
    `ratio          ${median(measured.map(({ took, node }) => took / node)).toFixed(2)}`,
    `memory         ${median(measured.map(({ rss }) => rss)).toFixed(0)} MB`,
  ].join("\n"),
);
