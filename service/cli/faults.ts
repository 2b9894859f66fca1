import { localPaths } from "../api/local";
import { connect, expectSuccess } from "./connection";
import { findEndpoint } from "./data-folder";
import type { Output } from "./output";

/**
 * Replaces the faults that the running service injects into an endpoint, given as JSON text, and prints those that are left.
 * Without `faults` it only prints them.
 */
export async function callFaults(
  endpoint: string,
  faults: string | undefined,
  data: string,
  output: Output,
): Promise<void> {
  const { id } = findEndpoint(endpoint, data);
  const { send } = connect(data);
  const path = localPaths.faults(id);
  const response = await (faults === undefined ? send("GET", path) : send("PUT", path, faults));
  output.out(expectSuccess(response).text);
}
