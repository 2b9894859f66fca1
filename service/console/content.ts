import { consoleEvents, type EventsDeps, pageLength } from "./events";
import { jobRow } from "./overview";
import { readPageFile } from "./page-files";

export type ConsoleContent = ReturnType<typeof createConsoleContent>;

/** What the console shows. */
export function createConsoleContent(deps: EventsDeps) {
  const { view, clock } = deps;
  return {
    file: readPageFile,
    events: (endpointId: string | undefined, signal: AbortSignal) => consoleEvents(deps, endpointId, signal),
    /** A page of an endpoint's jobs, newest first, and where the next one begins; null on the last one. */
    async page(endpointId: string, before: number): Promise<{ rows: object[]; before: number | null }> {
      const found = await view.page(endpointId, before, pageLength);
      return { rows: found.jobs.map((job) => jobRow(job, clock.now())), before: found.before ?? null };
    },
    /** JSON text. */
    input: view.input,
  };
}
