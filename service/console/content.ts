import { endpointsOverview } from "../api/endpoint-overview";
import { messageOf } from "../errors";
import type { Faults } from "../faults/faults";
import { retryRejection } from "../queue/job";
import { type JobFilter, maxSeq } from "../queue/list";
import type { Jobs } from "../queue/queue";
import type { Resources } from "../resources";
import { commentText, eventText } from "../server-sent-events";
import type { SteadyClock } from "../steady-clock";
import { createLogTail, type LogTail } from "../workers/log-tail";
import { type ConsoleView, jobRow, resourcesOverview } from "./overview";

/** Poll intervals of an endpoint's log and of all other content, ms. */
const logPollInterval = 250;
const viewInterval = 1000;

/** Pause after a view, as a multiple of its duration, so that a search of a million jobs does not keep the service busy. */
const pausePerView = 9;

/** Maximum number of past log lines sent first. */
const maxPastLines = 200;

/** Polls without changes after which a comment is sent, which detects closed pages. */
const maxQuietPolls = 40;

/** Rows of a page of jobs. */
const pageLength = 50;

/** Content of the console. */
export function createConsoleContent({
  resources,
  view,
  faults,
  logFile,
  clock,
}: {
  resources: Resources;
  view: ConsoleView;
  faults: Pick<Faults, "read">;
  /** File with the output of the endpoint's workers. */
  logFile(endpointId: string): string;
  clock: SteadyClock;
}) {
  /** A page of an endpoint's jobs that match, newest first, and the start of the next page; null on the last page. */
  async function page(
    endpointId: string,
    filter: JobFilter,
    before: number,
  ): Promise<{ rows: object[]; before: number | null }> {
    const found = await view.search(endpointId, filter, before, pageLength);
    return { rows: found.jobs.map((job) => jobRow(job, clock)), before: found.before ?? null };
  }

  /**
   * Server-sent events of the console's page: `service`, `endpoints` and `resources`; for one endpoint also `metrics`, `jobs` (the newest
   * page of those that match the filter), `faults` and `log` (lines). Each is sent at the beginning and after every change.
   */
  async function* events(
    endpointId: string | undefined,
    filter: JobFilter,
    signal: AbortSignal,
  ): AsyncGenerator<string> {
    const sent = new Map<string, string>();
    const tail = endpointId === undefined ? undefined : createLogTail(logFile(endpointId));

    /** Returns the event unless the page already has its content. */
    function changedEvent(name: string, value: unknown): string[] {
      const data = JSON.stringify(value);
      if (sent.get(name) === data) return [];
      sent.set(name, data);
      return [eventText({ event: name, data })];
    }
    async function readView(): Promise<string[]> {
      const commonEvents = [
        ...changedEvent("service", { problem: view.problem() ?? null }),
        ...changedEvent("endpoints", endpointsOverview(resources, view)),
        ...changedEvent("resources", resourcesOverview(resources)),
      ];
      if (endpointId === undefined) return commonEvents;
      return [
        ...commonEvents,
        ...changedEvent("metrics", view.readRanges(endpointId)),
        ...changedEvent("jobs", await page(endpointId, filter, maxSeq)),
        // The endpoint may have been deleted since.
        ...changedEvent("faults", resources.endpoints.find(endpointId) ? faults.read(endpointId) : {}),
      ];
    }

    try {
      // Reconnect delay of a page that lost its connection.
      yield eventText({ retry: 1000 });
      if (tail) yield logEvent(await tail.readLast(maxPastLines));
      for (let quiet = 0, nextView = clock.now(); !signal.aborted; quiet++) {
        const parts = await readNewLines(tail);
        const startedAt = clock.now();
        if (startedAt >= nextView) {
          parts.unshift(...(await readView()));
          nextView = startedAt + Math.max(viewInterval, (clock.now() - startedAt) * (pausePerView + 1));
        }
        if (parts.length > 0 || quiet >= maxQuietPolls) {
          quiet = 0;
          yield parts.join("") || commentText;
        }
        await clock.sleep(logPollInterval, signal).catch(() => undefined);
      }
    } finally {
      await tail?.close();
    }
  }

  return { events, page };
}

const logEvent = (lines: string[]): string => eventText({ event: "log", data: JSON.stringify(lines) });

async function readNewLines(tail: LogTail | undefined): Promise<string[]> {
  let lines: string[] = [];
  for await (const part of tail?.newLines() ?? []) lines = lines.concat(part).slice(-maxPastLines);
  return lines.length > 0 ? [logEvent(lines)] : [];
}

/** A job that was not retried. */
interface FailedRetry {
  id: string;
  reason: string;
}

/** Requeues failed jobs, batched by the group commit; resolves with the jobs that were not requeued. */
export async function retryAll(retry: Jobs["retry"], endpointId: string, ids: string[]): Promise<FailedRetry[]> {
  const results = await Promise.all(
    ids.map(async (id): Promise<FailedRetry | undefined> => {
      try {
        const result = await retry(endpointId, id);
        if (!result) return { id, reason: "does not exist; its retention has expired" };
        return result.retried ? undefined : { id, reason: retryRejection(result.job) };
      } catch (error) {
        return { id, reason: messageOf(error) };
      }
    }),
  );
  return results.filter((result) => result !== undefined);
}
