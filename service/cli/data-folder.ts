import { systemClock } from "serverless-compute-api/clock";
import { findEndpoint as findByIdOrName, type NamedEndpoint } from "serverless-compute-api/job-commands";
import { StartError } from "../errors";
import { readEndpointNames } from "../resources/endpoint-table";
import { readApiKey } from "../store/api-key";
import { readServiceAddress } from "../store/service-address";
import { readWorkerToken } from "../workers/tokens";
import type { Output } from "./output";

/** Finds an endpoint of a data folder by its id or unique name; requires no running service. */
export function findEndpoint(idOrName: string, data: string): NamedEndpoint {
  const endpoints = readEndpointNames(data);
  if (!endpoints) throw new StartError(`no service has used ${data} yet; pass the service's folder with --data`);
  return findByIdOrName(idOrName, endpoints);
}

/** Interval at which the service's start is checked, ms. */
const pollInterval = 50;

/** Resolves once a service listens for the data folder; rejects with a StartError after `timeout` ms. */
export async function waitForService(data: string, timeout: number): Promise<void> {
  const deadline = performance.now() + timeout;
  while (readServiceAddress(data) === undefined) {
    if (performance.now() >= deadline)
      throw new StartError(
        `no service for the folder ${data} started within ${timeout / 1000} s; start one, or pass its folder with --data`,
      );
    await systemClock.sleep(pollInterval);
  }
}

/** Prints the API key; requires no running service. */
export function printKey(data: string, output: Output): void {
  const key = readApiKey(data);
  if (key === undefined) throw new StartError(`${data} has no key yet; the service creates it at its first start`);
  output.out(key);
}

/** Prints the token for external workers; requires no running service. */
export function printToken(endpoint: string, data: string, output: Output): void {
  const { id, name } = findEndpoint(endpoint, data);
  const token = readWorkerToken(data, id);
  if (token === undefined)
    throw new StartError(`endpoint "${name}" (${id}) has no worker token yet; start the service`);
  output.out(token);
}
