import type { FastifyInstance } from "fastify";
import { notFound } from "../errors";
import { type EndpointFaults, type Faults, faultShape } from "../faults/faults";
import { parseInput } from "../validation";
import type { Auth } from "./auth";

/** Path of an endpoint's faults, which the hosted service does not have. */
export const faultsPath = (endpointId: string): string => `/local/endpoints/${endpointId}/faults`;

export type FaultControl = ReturnType<typeof createFaultControl>;

/** Reads and replaces the faults of endpoints, for routes, programs and seed files. */
export function createFaultControl({
  faults,
  exists,
  review,
}: {
  faults: Pick<Faults, "of" | "set">;
  exists(endpointId: string): boolean;
  /** Starts workers that had no stock. */
  review(endpointId: string): void;
}) {
  /** Returns the faults that are left; throws a ServiceError `missing` for an unknown endpoint. */
  function read(endpointId: string): EndpointFaults {
    if (!exists(endpointId)) throw notFound("endpoint", endpointId);
    return faults.of(endpointId);
  }
  return {
    read,
    /** Replaces all faults of an endpoint; throws a ServiceError `invalid` for an invalid one. */
    replace(endpointId: string, given: unknown): EndpointFaults {
      read(endpointId);
      faults.set(endpointId, parseInput(faultShape, given));
      review(endpointId);
      return faults.of(endpointId);
    },
  };
}

/** Registers the routes that read and replace the faults of an endpoint. */
export function registerFaultRoutes(
  app: FastifyInstance,
  auth: Pick<Auth, "checkRest">,
  { read, replace }: FaultControl,
): void {
  type OfEndpoint = { Params: { endpointId: string } };
  app.addHook("onRequest", async (request) => auth.checkRest(request));
  app.get<OfEndpoint>(faultsPath(":endpointId"), async ({ params }) => read(params.endpointId));
  app.put<OfEndpoint>(faultsPath(":endpointId"), async ({ params, body }) => replace(params.endpointId, body));
}
