import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Clock } from "serverless-compute-api/clock";
import type { Faults } from "../faults/faults";
import type { JobEvents } from "../queue/events";
import type { Resources } from "../resources";
import { writeAtomically } from "../store/data-folder";
import type { ConsoleContent } from "./content";
import { createJobMetrics, type JobMetrics } from "./metrics";
import type { ConsoleView } from "./overview";
import { linkTo, registerConsoleRoutes } from "./routes";
import { createConsoleSessions } from "./sessions";

/** Sampling interval of the queues for the charts, ms. */
const sampleInterval = 1000;

/** The web page of the service. At start, only the metrics are collected; all other code is loaded with the first page. */
export function createConsole({
  apiKey,
  checkKey,
  clock,
  resources,
  view,
  faults,
  logFile,
  dataFolder,
  jobRoutes,
  serverlessUrl,
}: {
  apiKey: string;
  /** Throws a ServiceError unless a request has the API key. */
  checkKey(request: FastifyRequest): void;
  clock: Clock;
  resources: Resources;
  view: ConsoleView & { events: JobEvents; waiting(endpointId: string): number };
  faults: Pick<Faults, "read" | "replace">;
  logFile(endpointId: string): string;
  /** Folder of the file that keeps the charts while the service is stopped. */
  dataFolder: string;
  /** Registers the job API for callers that were checked before. */
  jobRoutes(app: FastifyInstance): void;
  serverlessUrl(): string;
}) {
  const sessions = createConsoleSessions(apiKey, clock);
  const exists = (endpointId: string): boolean => resources.endpoints.find(endpointId) !== undefined;
  const { events, waiting } = view;
  const metrics = createJobMetrics({ events, waiting, exists, clock });
  const chartsFile = join(dataFolder, "charts.json");
  loadCharts(chartsFile, metrics);
  const samplingTimer = setInterval(metrics.sample, sampleInterval).unref();
  let loadedContent: Promise<ConsoleContent> | undefined;
  const content = (): Promise<ConsoleContent> => {
    loadedContent ??= import("./content.js").then(({ createConsoleContent }) =>
      createConsoleContent({ resources, view, metrics, faults, logFile, clock }),
    );
    return loadedContent;
  };
  return {
    routes: (app: FastifyInstance): void =>
      registerConsoleRoutes(app, { sessions, checkKey, content, faults, exists, jobRoutes, serverlessUrl }),
    /** A link that opens the console once, within an hour. */
    newLink: (): string => linkTo(serverlessUrl(), sessions.newLink()),
    /** Stops counting, and stores the charts. */
    close(): void {
      clearInterval(samplingTimer);
      try {
        writeAtomically(chartsFile, metrics.save());
      } catch {
        // Without space on the disk, the charts begin again at the next start.
      }
    },
  };
}

/** Loads the charts of the previous run, if they are readable. */
function loadCharts(file: string, metrics: Pick<JobMetrics, "load">): void {
  try {
    metrics.load(readFileSync(file, "utf8"));
  } catch {
    // The charts begin again: the file does not exist, or is damaged.
  }
}
