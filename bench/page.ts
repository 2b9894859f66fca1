import type { BurstRow } from "./burst";
import type { ColdStart } from "./cold-start";
import { type DeployRow, steps } from "./deploy";
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
  /** Measured with `deploy`. */
  lags?: LagRow[];
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

function deployTable(rows: DeployRow[]): string {
  const each = (text: (step: (typeof steps)[number]) => string): string => steps.map(text).join(" / ");
  const cells = rows.map(({ by, resources, seconds, ratio, usage }) => [
    String(resources),
    by,
    ratio ? `${each((step) => precise(ratio.of[step]))} of ${ratio.to}` : "",
    each((step) => precise(seconds[step])),
    each((step) => rounded(usage[step].requests)),
    each((step) => rounded(usage[step].cpu)),
    each((step) => rounded(usage[step].memory)),
  ]);
  const columns = ["time as a share", "s", "requests", "provider's CPU ms", "provider's RSS MiB"];
  return `${steps.join(" / ")}:\n\n${table(["resources", "by", ...columns], cells)}`;
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
    ["deploy", deploy && deployTable(deploy)],
    ["lags", lags && lagTable(lags)],
  ];
  return new Map(tables.flatMap(([part, text]) => (text === undefined ? [] : [[part, `${row}\n\n${text}`]])));
}
