import type { FastifyInstance } from "fastify";
import type { Faults } from "../faults/faults";
import type { Auth } from "./auth";

/** Paths that the hosted service lacks, for the command line and tests. */
export const localPaths = {
  status: "/local/status",
  faults: (endpointId: string): string => `/local/endpoints/${endpointId}/faults`,
};

/** Operations of the local paths. */
export interface LocalOperations {
  /** Returns the endpoints with their queues and workers, and the reason why the store cannot be written. */
  status(): { endpoints: object[]; problem: string | undefined };
  faults: Pick<Faults, "read" | "replace">;
}

/** Registers the local paths, which require the API key. */
export function registerLocalRoutes(
  app: FastifyInstance,
  auth: Pick<Auth, "checkRest">,
  { status, faults }: LocalOperations,
): void {
  type EndpointRoute = { Params: { endpointId: string } };
  app.addHook("onRequest", async (request) => auth.checkRest(request));
  app.get(localPaths.status, async () => status());
  const path = localPaths.faults(":endpointId");
  app.get<EndpointRoute>(path, async ({ params }) => faults.read(params.endpointId));
  app.put<EndpointRoute>(path, async ({ params, body }) => faults.replace(params.endpointId, body));
}
