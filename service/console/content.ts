import type { Clock } from "serverless-compute-api/clock";
import type { Resources } from "../resources";
import { createLogTail, type LogTail } from "../workers/log-tail";
import type { JobMetrics } from "./metrics";
import { type ConsoleView, endpointsOverview, jobRow, resourcesOverview } from "./overview";
import { readPageFile } from "./page-files";

/** Poll interval of an endpoint's log, ms, and the number of polls between updates of everything else. */
const lookInterval = 250;
const looksPerView = 4;

/** Past log lines that a page shows first. */
const pastLines = 200;

/** Polls without news after which a comment is sent, which detects closed pages. */
const quietLooks = 40;

/** Rows of a page of jobs. */
const pageLength = 50;

export type ConsoleContent = ReturnType<typeof createConsoleContent>;

/** Content of the console. */
export function createConsoleContent({
  resources,
  view,
  metrics,
  logFile,
  clock,
}: {
  resources: Resources;
  view: ConsoleView;
  metrics: Pick<JobMetrics, "read">;
  /** File with the output of the endpoint's workers. */
  logFile(endpointId: string): string;
  clock: Clock;
}) {
  /**
   * Server-sent events of the console's page: `endpoints` and `resources`; for one endpoint also `metrics`, `jobs` (the newest
   * page) and `log` (lines). Each is sent at the beginning and after every change.
   */
  async function* events(endpointId: string | undefined, signal: AbortSignal): AsyncGenerator<string> {
    const sent = new Map<string, string>();
    const tail = endpointId === undefined ? undefined : createLogTail(logFile(endpointId));

    /** Returns the event unless the page already has its content. */
    function changed(name: string, value: unknown): string[] {
      const data = JSON.stringify(value);
      if (sent.get(name) === data) return [];
      sent.set(name, data);
      return [`event: ${name}\ndata: ${data}\n\n`];
    }
    async function looked(): Promise<string[]> {
      const all = [
        ...changed("endpoints", endpointsOverview(resources, view)),
        ...changed("resources", resourcesOverview(resources)),
      ];
      if (endpointId === undefined) return all;
      const { jobs, before } = await view.page(endpointId, Number.MAX_SAFE_INTEGER, pageLength);
      // The time of now would make a waiting job another one in each look.
      const rows = jobs.map((job) => jobRow(job, job.finishedAt ?? job.startedAt ?? job.queuedAt));
      return [
        ...all,
        ...changed("metrics", metrics.read(endpointId)),
        ...changed("jobs", { rows, before: before ?? null }),
      ];
    }

    try {
      // A page that lost its connection reconnects after a second.
      yield "retry: 1000\n\n";
      if (tail) yield `event: log\ndata: ${JSON.stringify(await tail.last(pastLines))}\n\n`;
      for (let look = 0, quiet = 0; !signal.aborted; look++, quiet++) {
        const parts = [...(look % looksPerView === 0 ? await looked() : []), ...(await newLines(tail))];
        if (parts.length > 0 || quiet >= quietLooks) {
          quiet = 0;
          yield parts.join("") || ":\n\n";
        }
        await clock.sleep(lookInterval, signal).catch(() => undefined);
      }
    } finally {
      await tail?.close();
    }
  }

  return {
    file: readPageFile,
    events,
    /** A page of an endpoint's jobs, newest first, and the start of the next page; null on the last page. */
    async page(endpointId: string, before: number): Promise<{ rows: object[]; before: number | null }> {
      const found = await view.page(endpointId, before, pageLength);
      return { rows: found.jobs.map((job) => jobRow(job, clock.now())), before: found.before ?? null };
    },
    /** JSON text. */
    input: view.input,
  };
}

async function newLines(tail: LogTail | undefined): Promise<string[]> {
  const lines = (await tail?.more()) ?? [];
  return lines.length > 0 ? [`event: log\ndata: ${JSON.stringify(lines.slice(-pastLines))}\n\n`] : [];
}
