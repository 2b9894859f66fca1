import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Faults } from "../faults/faults";
import type { Resources } from "../resources";
import type { SteadyClock } from "../steady-clock";
import type { ConsoleContent } from "./content";
import type { ConsoleView } from "./overview";
import { linkTo, registerConsoleRoutes } from "./routes";
import { createConsoleSessions } from "./sessions";

/** The web page of the service. Its content is loaded with the first page. */
export function createConsole({
  apiKey,
  checkKey,
  clock,
  resources,
  view,
  faults,
  logFile,
  jobRoutes,
  serverlessUrl,
}: {
  apiKey: string;
  /** Throws a ServiceError unless a request has the API key. */
  checkKey(request: FastifyRequest): void;
  clock: SteadyClock;
  resources: Resources;
  view: ConsoleView;
  faults: Pick<Faults, "read" | "replace">;
  logFile(endpointId: string): string;
  /** Registers the job API for callers that were checked before. */
  jobRoutes(app: FastifyInstance): void;
  serverlessUrl(): string;
}) {
  const sessions = createConsoleSessions(apiKey, clock);
  const exists = (endpointId: string): boolean => resources.endpoints.find(endpointId) !== undefined;
  let loadedContent: Promise<ConsoleContent> | undefined;
  const content = (): Promise<ConsoleContent> => {
    loadedContent ??= import("./content.js").then(({ createConsoleContent }) =>
      createConsoleContent({ resources, view, faults, logFile, clock }),
    );
    return loadedContent;
  };
  return {
    routes: (app: FastifyInstance): void =>
      registerConsoleRoutes(app, { sessions, checkKey, content, faults, exists, jobRoutes, serverlessUrl }),
    /** A link that opens the console once, within an hour. */
    newLink: (): string => linkTo(serverlessUrl(), sessions.newLink()),
  };
}
