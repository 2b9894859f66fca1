import { readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { burst, drain, type Measurement, nothingMeasured, percentile, steady } from "./measurement";
import { type MeasuredService, startMeasuredService } from "./service";

/** Measures the job path at the interface's base limits and writes the tables of docs/performance.md. */

const endpoints = 10;
const limit = { requests: 1000, concurrent: 200 };
/** Below the concurrency limit, since jobs do not come to all endpoints in step. */
const even = { atOnce: limit.concurrent / 2 };
const memoryJobs = Number(process.argv[2] ?? 200_000);
const body = JSON.stringify({ input: { prompt: "ping" } });
/** The shortest ttl there is: the supervisor removes jobs while the load goes on. */
const shortLived = JSON.stringify({ input: { prompt: "ping" }, policy: { ttl: 10_000 } });
const page = join(__dirname, "..", "docs", "performance.md");

const whole = (value: number): string => Math.round(value).toLocaleString("en-US");
const ms = (value: number): string => value.toFixed(1);
const errorsOf = ({ errors }: Measurement): number => [...errors.values()].reduce((sum, count) => sum + count, 0);

function row(name: string, done: Measurement, drained: number): string {
  const { sent, accepted, throttled, seconds, latencies } = done;
  const times = [50, 95, 99, 100].map((share) => ms(percentile(latencies, share)));
  const cells = [whole(sent), whole(accepted), whole(throttled), whole(errorsOf(done)), whole(accepted / seconds)];
  return `| ${[name, ...cells, ...times, drained.toFixed(1)].join(" | ")} |`;
}

async function onFreshService<Result>(work: (service: MeasuredService) => Promise<Result>): Promise<Result> {
  const service = await startMeasuredService(endpoints);
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}

const faults: string[] = [];
function note(name: string, done: Measurement): void {
  for (const [what, count] of done.errors) faults.push(`${name}: ${count} × ${what}`);
}

async function measureLimits(): Promise<string[]> {
  const loads: [string, (service: MeasuredService) => Promise<Measurement>][] = [
    [
      "at the limit, evenly (100/s per endpoint, 30 s)",
      (service) => steady(service, { ...even, perSecond: 100, jobs: 100 * endpoints * 30, body }),
    ],
    [
      "at the limit, all at once (200 connections per endpoint)",
      (service) => burst(service, limit.requests, limit.concurrent, body),
    ],
    ["above it (1,500 per endpoint, 250 connections)", (service) => burst(service, 1500, 250, body)],
  ];
  const rows: string[] = [];
  for (const [name, load] of loads) {
    rows.push(
      await onFreshService(async (service) => {
        const done = await load(service);
        const drained = await drain(service);
        note(name, done);
        const completed = await service.count("completed");
        if (completed !== done.accepted) faults.push(`${name}: ${done.accepted} accepted, ${completed} completed`);
        return row(name, done, drained);
      }),
    );
    console.info(rows.at(-1));
  }
  return rows;
}

/** Resident memory over many jobs that live 10 s, in ten parts. */
async function measureMemory(): Promise<string[]> {
  return onFreshService(async (service) => {
    const rows: string[] = [];
    const parts = 10;
    const total = nothingMeasured();
    for (let part = 1; part <= parts; part++) {
      const samples: number[] = [];
      const sampling = setInterval(() => void service.residentMemory().then((value) => samples.push(value)), 1000);
      const done = await steady(service, { ...even, perSecond: 95, jobs: memoryJobs / parts, body: shortLived });
      clearInterval(sampling);
      samples.push(await service.residentMemory());
      note("memory", done);
      total.accepted += done.accepted;
      total.throttled += done.throttled;
      const [mean, most] = [samples.reduce((sum, one) => sum + one, 0) / samples.length, Math.max(...samples)];
      const completed = await service.count("completed");
      const waiting = await service.count("inQueue");
      rows.push(`| ${[total.accepted, completed, total.throttled, mean, most, waiting].map(whole).join(" | ")} |`);
      console.info(rows.at(-1));
    }
    return rows;
  });
}

function write(limits: string[], memory: string[], load: string): void {
  const text = readFileSync(page, "utf8");
  const tables = `Machine: 2 cores, 24 GiB, Node 20. Load average (1 min) before the start: ${load}.

| /run load | sent | accepted | 429 | other errors | accepted/s | p50 ms | p95 ms | p99 ms | max ms | drained after s |
|---|---|---|---|---|---|---|---|---|---|---|
${limits.join("\n")}

| jobs accepted so far | completed | 429 | mean RSS MiB | highest RSS MiB | waiting |
|---|---|---|---|---|---|
${memory.join("\n")}
`;
  const [before] = text.split("<!-- measured -->");
  const after = text.split("<!-- /measured -->")[1] ?? "\n";
  writeFileSync(page, `${before}<!-- measured -->\n${tables}<!-- /measured -->${after}`);
}

async function main(): Promise<void> {
  const load = (loadavg()[0] ?? 0).toFixed(1);
  const limits = await measureLimits();
  const memory = await measureMemory();
  write(limits, memory, load);
  if (faults.length === 0) return;
  console.error(faults.join("\n"));
  process.exitCode = 1;
}

void main();
