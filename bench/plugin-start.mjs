// Time from the start of the plugin to its port and to its first response, compared with a bare `node -e 0`. Both
// are started alternately, so that other load affects both equally. `node bench/plugin-start.mjs [pairs]`, after `npm
// run build`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { loadavg } from "node:os";
import { delimiter, dirname } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
/** @type {typeof import("@grpc/grpc-js")} */
const { Client, credentials } = require("@grpc/grpc-js");

const launcher = fileURLToPath(new URL("../provider/bin/pulumi-resource-serverless-compute", import.meta.url));
const pairs = Number(process.argv[2] ?? 30);
/** PATH for the launcher's first line, which looks up `node`. */
const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}` };
/** Kernel clock ticks of a process, 10 ms each on Linux. */
const tick = 10;

/** @param {number[]} values */
const sorted = (values) => [...values].sort((a, b) => a - b);
/** @param {number[]} values */
const median = (values) => sorted(values)[Math.floor(values.length / 2)] ?? Number.NaN;

async function bare() {
  const startTime = performance.now();
  await once(spawn(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit");
  return performance.now() - startTime;
}

async function plugin() {
  const startTime = performance.now();
  const child = spawn(launcher, ["127.0.0.1:9"], { stdio: ["ignore", "pipe", "inherit"], env });
  const [printed] = await once(child.stdout, "data");
  const port = performance.now() - startTime;
  const client = new Client(`127.0.0.1:${Number(printed)}`, credentials.createInsecure());
  const asIs = (/** @type {Buffer} */ bytes) => bytes;
  await new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      "/pulumirpc.ResourceProvider/Configure",
      asIs,
      asIs,
      Buffer.alloc(0),
      (/** @type {unknown} */ error) => (error ? reject(error) : resolve(undefined)),
    );
  });
  const response = performance.now() - startTime;
  const read = (/** @type {string} */ name) =>
    process.platform === "linux" ? readFileSync(`/proc/${child.pid}/${name}`, "utf8") : "";
  const rss = Number(/VmRSS:\s+(\d+)/.exec(read("status"))?.[1]) / 1024;
  const [user, system] = read("stat").split(") ").at(-1)?.split(" ").slice(11, 13).map(Number) ?? [];
  // The end of a command waits for this.
  const requestTime = performance.now();
  child.kill("SIGINT");
  await once(child, "exit");
  const end = performance.now() - requestTime;
  client.close();
  return { port, response, end, rss, cpu: ((user ?? Number.NaN) + (system ?? Number.NaN)) * tick };
}

// The first run of each reads cold files.
await bare();
await plugin();
const load = loadavg()[0]?.toFixed(1);
const measured = [];
for (let pair = 0; pair < pairs; pair += 1) measured.push({ node: await bare(), ...(await plugin()) });
const ratios = sorted(measured.map(({ port, node }) => port / node));
const quartile = (/** @type {number} */ part) => (ratios[Math.floor(ratios.length * part)] ?? Number.NaN).toFixed(2);
console.log(
  [
    `${pairs} pairs, Node ${process.versions.node}, load average before the start ${load}`,
    `node -e 0       ${median(measured.map(({ node }) => node)).toFixed(0)} ms`,
    `plugin's port   ${median(measured.map(({ port }) => port)).toFixed(0)} ms`,
    `ratio           ${median(ratios).toFixed(2)} (half of the pairs ${quartile(0.25)} to ${quartile(0.75)})`,
    `first response  ${median(measured.map(({ response }) => response)).toFixed(0)} ms`,
    `end at SIGINT   ${median(measured.map(({ end }) => end)).toFixed(0)} ms`,
    `its processor   ${median(measured.map(({ cpu }) => cpu)).toFixed(0)} ms up to the first response`,
    `its memory      ${median(measured.map(({ rss }) => rss)).toFixed(0)} MB at the first response`,
  ].join("\n"),
);
