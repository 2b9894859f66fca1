import type { Request } from "autocannon";
import { z } from "zod";
import { type LoadResult, runLoad } from "./load";
import { descendants, processorTime } from "./processes";
import { startSdkServer } from "./sdk-server";
import { type MeasuredService, onService, type WorkerKind } from "./service";
import { median } from "./statistics";

/** Concurrent clients. */
const clients = [1, 16, 128];
const operations = ["/runsync", "/run + /status"] as const;
const body = JSON.stringify({ input: { prompt: "ping" } });
const createdShape = z.object({ id: z.string() });

/** Result of a way to run jobs with a number of clients; medians over the rounds. */
export interface JobRow {
  operation: "/runsync" | "/run + /status";
  by: "local workers" | "SDK workers" | "the SDK's own server";
  clients: number;
  /** Jobs submitted and finished per second. */
  jobsPerSecond: number;
  p50: number;
  p99: number;
  errors: number;
  /** Processor time per job of the server and of its workers, ms. */
  serverCpu: number;
  workerCpu: number;
}

export interface JobBench {
  rounds: number;
  seconds: number;
  /**
   * Warm-up before each measurement, s. Every measurement starts a new service process, and V8 optimises the last busy
   * functions after ten seconds.
   */
  warmUp: number;
}

/** Number of workers per endpoint; the default of endpoints. */
const workersPerEndpoint = 3;

/** Maximum jobs per second of an SDK worker, whose loop sleeps for a second after each (`get_jobs` in rp_scale.py). */
const sdkWorkerPerSecond = 1;

/** Seconds in which SDK workers finish two jobs of each client, regardless of the service. */
const secondsOfTurns = (clients: number): number => (2 * clients) / (workersPerEndpoint * sdkWorkerPerSecond);

/** Stragglers beyond this number abort the measurement, whose number of clients would be wrong. */
const maximumTurns = 30;

const waitsForSdk = ({ operation, by }: Pick<JobRow, "operation" | "by">): boolean =>
  operation === "/runsync" && by === "SDK workers";

interface Contender {
  operation: JobRow["operation"];
  by: JobRow["by"];
  pid: number;
  load(connections: number, seconds: number): Promise<LoadResult>;
  /** Purges the jobs that the clients abandoned and that are still queued. */
  drain(): Promise<void>;
}

const post = (path: string): Request => ({ method: "POST", path, body });

/** A job that is submitted and then polled once: two requests. */
function submitAndPoll(endpointId: string): Request[] {
  const submit: Request = {
    ...post(`/v2/${endpointId}/run`),
    onResponse: (status, text, context) => {
      const job: { id?: string } = context;
      if (status === 200) job.id = createdShape.parse(JSON.parse(text)).id;
    },
  };
  const poll: Request = {
    method: "GET",
    setupRequest: (request, context) => {
      const job: { id?: string } = context;
      return { ...request, path: `/v2/${endpointId}/status/${job.id ?? "none"}` };
    },
  };
  return [submit, poll];
}

function contender(service: MeasuredService, operation: JobRow["operation"], by: JobRow["by"]): Contender {
  const { serverlessUrl: url, headers, pid, endpointIds } = service;
  const [endpointId = ""] = endpointIds;
  const requests = operation === "/runsync" ? [post(`/v2/${endpointId}/runsync`)] : submitAndPoll(endpointId);
  const load = (connections: number, seconds: number): Promise<LoadResult> =>
    runLoad({ url, headers, connections, requests, for: { seconds } });
  const drain = async (): Promise<void> => {
    await service.purge();
    await service.drained();
  };
  return { operation, by, pid, load, drain };
}

async function measure(contender: Contender, connections: number, bench: JobBench): Promise<JobRow> {
  const { operation, by, pid, load, drain } = contender;
  const { warmUp } = bench;
  const seconds = Math.max(bench.seconds, waitsForSdk(contender) ? secondsOfTurns(connections) : 0);
  if (warmUp > 0) {
    await load(connections, warmUp);
    await drain();
  }
  const workers = await descendants(pid);
  const cpuTime = async (pids: number[]): Promise<number> =>
    (await Promise.all(pids.map(processorTime))).reduce((sum, time) => sum + time, 0);
  const cpuBefore = [await cpuTime([pid]), await cpuTime(workers)] as const;
  const { perSecond, p50, p99, errors, answered } = await load(connections, seconds);
  const requests = operation === "/runsync" ? 1 : 2;
  const jobs = answered / requests;
  return {
    operation,
    by,
    clients: connections,
    jobsPerSecond: perSecond / requests,
    p50,
    p99,
    errors,
    serverCpu: ((await cpuTime([pid])) - cpuBefore[0]) / jobs,
    workerCpu: ((await cpuTime(workers)) - cpuBefore[1]) / jobs,
  };
}

/** Combines the rounds of one measurement into a row. */
function combine(rows: JobRow[]): JobRow {
  const [first] = rows;
  if (!first) throw new Error("nothing was measured");
  const medianOf = (read: (row: JobRow) => number): number => median(rows.map(read));
  return {
    ...first,
    jobsPerSecond: medianOf((row) => row.jobsPerSecond),
    p50: medianOf((row) => row.p50),
    p99: medianOf((row) => row.p99),
    errors: rows.reduce((sum, { errors }) => sum + errors, 0),
    serverCpu: medianOf((row) => row.serverCpu),
    workerCpu: medianOf((row) => row.workerCpu),
  };
}

/**
 * Runs jobs through local workers, SDK workers and the SDK's server, interleaved, so that other load affects all
 * equally.
 */
export async function measureJobs(bench: JobBench): Promise<JobRow[]> {
  const peer = await startSdkServer();
  try {
    const kinds: [WorkerKind, JobRow["by"]][] = [
      ["local", "local workers"],
      ["sdk", "SDK workers"],
    ];
    const sdkContender: Contender = {
      operation: "/runsync",
      by: "the SDK's own server",
      pid: peer.pid,
      load: (connections, length) =>
        runLoad({
          url: peer.url,
          headers: { "content-type": "application/json" },
          connections,
          requests: [post("/runsync")],
          for: { seconds: length },
        }),
      drain: async () => {},
    };
    const results = new Map<string, JobRow[]>();
    for (let round = 0; round < bench.rounds; round++) {
      for (const count of clients) {
        const note = (row: JobRow): void => {
          const key = `${row.operation} ${row.by} ${row.clients}`;
          results.set(key, [...(results.get(key) ?? []), row]);
        };
        note(await measure(sdkContender, count, bench));
        for (const [workers, by] of kinds) {
          for (const operation of operations) {
            if (waitsForSdk({ operation, by }) && secondsOfTurns(count) > maximumTurns) continue;
            // A separate service: /run accepts jobs faster than workers run them, and the queue would slow down the
            // next load.
            await onService({ workers, workersPerEndpoint }, async (service) => {
              note(await measure(contender(service, operation, by), count, bench));
            });
          }
        }
      }
    }
    return [...results.values()].map(combine);
  } finally {
    await peer.stop();
  }
}
