import { followWorkerLog, isApiError, systemClock, type WorkerLogLine } from "serverless-compute-api";
import { type CommandOutput, findEndpoint } from "serverless-compute-api/job-commands";
import type { JobAccount } from "./job-account";

/** Options of `logs`. */
export interface LogsFlags {
  /** Number of past lines to print. */
  lines: number;
  /** True to keep printing new lines. */
  follow: boolean;
  /** True to print each line as JSON. */
  json: boolean;
}

/** Minimum number of requested past lines: lines of a worker that a connection may lose before it delivers one. */
const minTail = 100;

/** Time without a line after which the past lines are complete, ms. The service does not mark their end. */
const quietTime = 1_000;

/** Time after which the past lines count as complete, because a busy worker is never quiet, ms. */
const maxPastTime = 5_000;

/** Interval at which the past lines are checked, ms. */
const checkInterval = 50;

/** Interval at which new workers are looked up, ms. */
const workerInterval = 2_000;

/** Time for which failed lookups of workers are repeated: time for the service to restart, ms. */
const maxOutage = 20_000;

/** A line of a worker. */
interface WorkerLine extends WorkerLogLine {
  worker: string;
}

/** A line in the form of the local service's log. */
function lineText({ ts, worker, line }: WorkerLine, json: boolean): string {
  const time = new Date(ts).toISOString();
  return json ? JSON.stringify({ time, worker, line }) : `${time} ${worker} ${line}`;
}

/** The logs of an endpoint's workers. A failed log aborts `stop` with its error. */
function createLogs(
  { clients }: JobAccount,
  endpointId: string,
  { signal, stop, onLine }: { signal: AbortSignal; stop: AbortController; onLine: (line: WorkerLine) => void },
) {
  /** Position after the last line of each worker. */
  const positions = new Map<string, string | undefined>();
  const states = new Map<string, "opening" | "open">();
  let lastActivity = systemClock.now();

  function follow(worker: string, tail: number | undefined): void {
    const setState = (state: "opening" | "open"): void => {
      states.set(worker, state);
      lastActivity = systemClock.now();
    };
    setState("opening");
    followWorkerLog(clients, [endpointId, worker], {
      tail,
      after: positions.get(worker),
      signal,
      onOpen: () => setState("open"),
      onLine: (line) => {
        lastActivity = systemClock.now();
        onLine({ ...line, worker });
      },
    }).then(
      (position) => {
        positions.set(worker, position);
        states.delete(worker);
      },
      (error: unknown) => stop.abort(error),
    );
  }

  return {
    /** Opens the logs of the running workers that have no open log; resolves with the number of running workers. */
    async open(tail?: number): Promise<number> {
      const { workers } = await clients.management.readWorkers(endpointId, { signal });
      for (const { id } of workers) if (!states.has(id)) follow(id, tail);
      return workers.length;
    },

    /** Resolves when all open logs have returned their past lines. */
    async waitForPast(): Promise<void> {
      for (let openTime = systemClock.now(); states.size > 0; await systemClock.sleep(checkInterval, signal)) {
        const now = systemClock.now();
        if ([...states.values()].includes("opening")) openTime = now;
        else if (now - lastActivity >= quietTime || now - openTime >= maxPastTime) return;
      }
    },
  };
}

/** Prints the output of an endpoint's running workers, oldest line first; with `follow`, until the account's signal aborts. */
export async function printLogs(
  account: JobAccount,
  endpoint: string,
  { lines, follow, json }: LogsFlags,
  output: CommandOutput,
): Promise<void> {
  const { clients, dialectName, explain } = account;
  if (clients.dialect === "v1")
    throw new Error(`REST v1 does not return the logs of workers; set ${dialectName} to v2`);
  const { id, name } = findEndpoint(endpoint, await account.endpoints());
  const print = (line: WorkerLine): void => output.out(lineText(line, json));
  const pastLines: WorkerLine[] = [];
  let onLine = (line: WorkerLine): void => void pastLines.push(line);

  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, ...(account.signal ? [account.signal] : [])]);
  const logs = createLogs(account, id, { signal, stop, onLine: (line) => onLine(line) });
  try {
    const workers = await logs.open(Math.max(lines, minTail));
    if (workers === 0)
      output.err(`endpoint "${name}" (${id}) has no running worker; the service returns the logs of running workers`);
    await logs.waitForPast();
    pastLines.sort((a, b) => Date.parse(a.ts) - Date.parse(b.ts));
    for (const line of lines === 0 ? [] : pastLines.slice(-lines)) print(line);
    onLine = print;
    for (let lastLookup = systemClock.now(); follow; ) {
      await systemClock.sleep(workerInterval, signal);
      try {
        await logs.open();
        lastLookup = systemClock.now();
      } catch (error) {
        const isRepeated = isApiError(error) && error.retryable && systemClock.now() - lastLookup < maxOutage;
        if (!isRepeated) throw error;
      }
    }
  } catch (error) {
    if (!account.signal?.aborted) throw explain(error, `logs of endpoint "${name}"`);
  } finally {
    stop.abort();
  }
}
