import { consoleEvents, type EventsDeps, pageLength } from "./events";
import { jobRow } from "./overview";
import { type PageFile, readPageFile } from "./page-files";

/** What the console shows. */
export interface ConsoleContent {
  file(name: string): Promise<PageFile>;
  events(endpointId: string | undefined, signal: AbortSignal): AsyncGenerator<string>;
  /** A page of an endpoint's jobs, newest first, and where the next one begins; null on the last one. */
  page(endpointId: string, before: number): Promise<{ rows: object[]; before: number | null }>;
  /** JSON text. */
  input(endpointId: string, jobId: string): string | undefined;
}

export function createConsoleContent(deps: EventsDeps): ConsoleContent {
  const { view, clock } = deps;
  return {
    file: readPageFile,
    events: (endpointId, signal) => consoleEvents(deps, endpointId, signal),
    async page(endpointId, before) {
      const found = await view.page(endpointId, before, pageLength);
      return { rows: found.jobs.map((job) => jobRow(job, clock.now())), before: found.before ?? null };
    },
    input: view.input,
  };
}
