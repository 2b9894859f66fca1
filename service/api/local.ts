import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { Faults } from "../faults/faults";
import type { EndpointRoute } from "./admission";
import type { Auth } from "./auth";

/** Paths that the hosted service lacks, for the command line and tests. */
export const localPaths = {
  status: "/local/status",
  seed: "/local/seed",
  faults: (endpointId: string): string => `/local/endpoints/${endpointId}/faults`,
};

/** Result of applying the seed file to the running service. */
export const appliedSeed = z.object({
  /** Path of the seed file. */
  file: z.string(),
  /** Created objects, as `section.name`. */
  created: z.array(z.string()),
  /** Updated objects, as `section.name`, with the changed properties. */
  updated: z.array(z.object({ path: z.string(), changes: z.array(z.string()) })),
  /** A message for each property of an existing object that differs from the file. */
  differences: z.array(z.string()),
  /** Objects of the service that the file does not contain, as `section.name`. */
  others: z.array(z.string()),
  /** Changed sections that take effect at the next start. */
  atStart: z.array(z.string()),
});
export type AppliedSeed = z.output<typeof appliedSeed>;

/** Operations of the local paths. */
export interface LocalOperations {
  /** Returns the endpoints with their queues and workers, and the reason why the store cannot be written. */
  status(): { endpoints: object[]; problem: string | undefined };
  faults: Pick<Faults, "read" | "replace">;
  /** Creates and updates the objects of the seed file with which the service started. */
  applySeedFile(): Promise<AppliedSeed>;
}

/** Registers the local paths, which require the API key. */
export function registerLocalRoutes(
  app: FastifyInstance,
  auth: Pick<Auth, "checkRest">,
  { status, faults, applySeedFile }: LocalOperations,
): void {
  app.addHook("onRequest", async (request) => auth.checkRest(request));
  app.get(localPaths.status, async () => status());
  app.post(localPaths.seed, async () => applySeedFile());
  const path = localPaths.faults(":endpointId");
  app.get<EndpointRoute>(path, async ({ params }) => faults.read(params.endpointId));
  app.put<EndpointRoute>(path, async ({ params, body }) => faults.replace(params.endpointId, body));
}
