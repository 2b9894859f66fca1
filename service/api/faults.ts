import { notFound } from "../errors";
import { type EndpointFaults, type Faults, faultShape } from "../faults/faults";
import { parseInput } from "../validation";

export type FaultControl = ReturnType<typeof createFaultControl>;

/** Reads and replaces the injected faults of endpoints, for routes, programs and seed files. */
export function createFaultControl({
  faults,
  exists,
  review,
}: {
  faults: Pick<Faults, "byEndpoint" | "set">;
  exists(endpointId: string): boolean;
  /** Starts workers that lacked stock. */
  review(endpointId: string): void;
}) {
  /** Returns the remaining faults; throws a ServiceError `missing` for an unknown endpoint. */
  function read(endpointId: string): EndpointFaults {
    if (!exists(endpointId)) throw notFound("endpoint", endpointId);
    return faults.byEndpoint(endpointId);
  }
  return {
    read,
    /** Replaces all faults of an endpoint; throws a ServiceError `invalid` for an invalid fault. */
    replace(endpointId: string, input: unknown): EndpointFaults {
      read(endpointId);
      faults.set(endpointId, parseInput(faultShape, input));
      review(endpointId);
      return faults.byEndpoint(endpointId);
    },
  };
}
