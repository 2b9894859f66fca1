import type { BurstRow } from "./burst";
import type { ColdStart } from "./cold-start";
import { type DeployRow, roles, steps, totalOf } from "./deploy-results";
import type { FirstJobRow } from "./first-job";
import type { JobRow } from "./jobs";
import type { LagRow } from "./lags";
import type { MemoryRow } from "./memory";
import type { QueueResult } from "./queue";

/** Parts of the benchmark that can be selected. */
export const parts = ["jobs", "burst", "queue", "memory", "start", "first-job", "deploy", "lags"] as const;
export type Part = (typeof parts)[number];

/** Results of a run; a part that was not selected is absent. */
export interface Results {
  machine: { node: string; cores: number; load: number };
  jobs?: JobRow[];
  burst?: BurstRow[];
  queue?: QueueResult;
  memory?: MemoryRow[];
  start?: ColdStart;
  firstJob?: FirstJobRow[];
  deploy?: DeployRow[];
  lags?: LagRow[];
}

/** Deployments in results.json, with the date (YYYY-MM-DD) and the commit of their measurement. */
export interface SavedResults extends Required<Pick<Results, "machine" | "deploy">> {
  date: string;
  commit: string;
}

const rounded = (value: number): string => Math.round(value).toLocaleString("en-US");
const precise = (value: number): string => value.toFixed(2);

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]): string => `| ${cells.join(" | ")} |\n`;
  return `${line(head)}|${"---|".repeat(head.length)}\n${rows.map(line).join("")}`;
}

/** Throughput relative to the SDK's own server with the same number of clients, measured in the same run. */
function ratio(row: JobRow, rows: JobRow[]): string {
  const peer = rows.find(({ by, clients }) => by === "the SDK's own server" && clients === row.clients);
  return peer && peer !== row && row.operation === peer.operation
    ? precise(row.jobsPerSecond / peer.jobsPerSecond)
    : "";
}

function jobTable(rows: JobRow[]): string {
  const head = ["× the SDK's server", "operation", "by", "clients", "jobs/s", "p50 ms", "p99 ms", "errors"];
  const order = (row: JobRow): string => `${row.operation} ${String(row.clients).padStart(4, "0")} ${row.by}`;
  const sorted = [...rows].sort((a, b) => order(a).localeCompare(order(b)));
  const lines = table(
    [...head, "server CPU ms/job", "workers' CPU ms/job"],
    sorted.map((row) => [
      ratio(row, rows),
      row.operation,
      row.by,
      String(row.clients),
      rounded(row.jobsPerSecond),
      precise(row.p50),
      precise(row.p99),
      rounded(row.errors),
      precise(row.serverCpu),
      precise(row.workerCpu),
    ]),
  );
  return `${lines}\nEach of the three SDK workers takes a job a second at most, so that 128 clients wait too long to be measured.\n`;
}

function burstTable(rows: BurstRow[]): string {
  const head = [
    "to",
    "sent",
    "accepted",
    "429",
    "other responses",
    "accepted/s",
    "p50 ms",
    "p99 ms",
    "drained after s",
  ];
  const cells = rows.map(({ by, sent, accepted, throttled, errors, acceptedPerSecond, p50, p99, drained }) => [
    by,
    ...[sent, accepted, throttled, errors, acceptedPerSecond, p50, p99].map(rounded),
    precise(drained),
  ]);
  return table(head, cells);
}

function queueTable({ rows, restart }: QueueResult): string {
  const cells = rows.map(({ queued, submittedPerSecond, takeTime, memory }) => [
    rounded(queued),
    rounded(submittedPerSecond),
    precise(takeTime),
    rounded(memory),
  ]);
  const lines = table(["jobs in the queue", "/run accepted/s", "take ms", "RSS MiB"], cells);
  return `${lines}\nA start that finds the longest queue takes ${precise(restart)} s.\n`;
}

const memoryTable = (rows: MemoryRow[]): string =>
  table(
    ["finished jobs kept", "RSS MiB"],
    rows.map(({ retained, memory }) => [rounded(retained), rounded(memory)]),
  );

const startTable = ({ addresses, firstResponse, memory, idleMemory }: ColdStart): string =>
  table(
    ["addresses ms", "first response ms", "RSS MiB a second later", "RSS MiB when idle"],
    [[addresses, firstResponse, memory, idleMemory].map(rounded)],
  );

const firstJobTable = (rows: FirstJobRow[]): string =>
  table(
    ["runtime", "worker", "/runsync ms", "delayTime ms"],
    rows.map(({ runtime, worker, wall, delay }) => [runtime, worker, rounded(wall), rounded(delay)]),
  );

const perStep = (text: (step: (typeof steps)[number]) => string): string => steps.map(text).join(" / ");

/** Times of the deployments, and their ratio to the provider compared with. */
export function deployTimes(rows: DeployRow[]): string {
  const title = steps.join(" / ");
  const cells = rows.map(({ by, resources, seconds, ratio }) => [
    String(resources),
    by,
    ratio ? perStep((step) => precise(ratio.of[step])) : "",
    ratio?.to ?? "",
    perStep((step) => precise(seconds[step])),
  ]);
  return table(["resources", "provider", `ratio: ${title}`, "to", "s"], cells);
}

/** Requests of the deployments, processor time of each process, and memory. */
export function deployUsage(rows: DeployRow[]): string {
  const cells = rows.map(({ by, resources, usage }) => [
    String(resources),
    by,
    perStep((step) => rounded(totalOf(usage[step].requests))),
    ...roles.map((role) => perStep((step) => rounded(usage[step].cpu[role]))),
    rounded(Math.max(...steps.map((step) => usage[step].memory))),
  ]);
  return table(["resources", "provider", "requests", ...roles.map((role) => `${role}, ms`), "memory, MiB"], cells);
}

/** The tables of the saved deployments in docs/performance.md. */
export function savedDeployments({ date, commit, machine, deploy }: SavedResults): string {
  const { cores, node, load } = machine;
  const place = `${date}, commit ${commit}, ${cores} cores, Node ${node}, load average ${load.toFixed(1)} before the start.`;
  const usage = "Requests, processor time of each process, and the provider's peak memory, in a separate round:";
  return `${place}\n\n${deployTimes(deploy)}\n${usage}\n\n${deployUsage(deploy)}`.trimEnd();
}

const lagTable = (rows: LagRow[]): string =>
  table(
    ["from → to the end of", "measured", "median lag ms", "longest ms", "requests of a wait"],
    rows.map(({ of: row, count, lag, longest, requests }) => [
      row,
      rounded(count),
      rounded(lag),
      rounded(longest),
      precise(requests),
    ]),
  );

/** Tables of a run as Markdown, by part. */
export function tablesOf(results: Results): Map<Part, string> {
  const { jobs, burst, queue, memory, start, firstJob, deploy, lags } = results;
  const { node, cores, load } = results.machine;
  const row = `Measured on ${cores} cores, Node ${node}, load average (1 min) before the start ${load.toFixed(1)}.`;
  const tables: [Part, string | undefined][] = [
    ["jobs", jobs && jobTable(jobs)],
    ["burst", burst && burstTable(burst)],
    ["queue", queue && queueTable(queue)],
    ["memory", memory && memoryTable(memory)],
    ["start", start && startTable(start)],
    ["first-job", firstJob && firstJobTable(firstJob)],
    ["deploy", deploy && `${deployTimes(deploy)}\n${deployUsage(deploy)}`],
    ["lags", lags && lagTable(lags)],
  ];
  return new Map(tables.flatMap(([part, text]) => (text === undefined ? [] : [[part, `${row}\n\n${text}`]])));
}
