import { localPaths } from "../api/local";
import { connect, expectSuccess } from "./connection";
import { findEndpoint } from "./data-folder";
import type { Output } from "./output";

/**
 * Replaces the injected faults of an endpoint of the running service and prints the remaining faults. `faults` is JSON text; without it,
 * only prints them.
 */
export async function callFaults(
  endpoint: string,
  faults: string | undefined,
  data: string,
  output: Output,
): Promise<void> {
  const { send } = connect(data);
  const { id } = findEndpoint(endpoint, data);
  const path = localPaths.faults(id);
  const response = await (faults === undefined ? send("GET", path) : send("PUT", path, faults));
  output.out(expectSuccess(response).text);
}
