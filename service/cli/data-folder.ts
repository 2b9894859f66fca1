import { systemClock } from "serverless-compute-api/clock";
import { StartError } from "../errors";
import { readEndpointNames } from "../resources/endpoint-table";
import { readApiKey } from "../store/api-key";
import { readServiceAddress } from "../store/service-address";
import { readWorkerToken } from "../workers/tokens";
import type { Output } from "./output";

/** Finds an endpoint of a data folder by its id or unique name; requires no running service. */
export function findEndpoint(idOrName: string, data: string): { id: string; name: string } {
  const endpoints = readEndpointNames(data);
  if (!endpoints) throw new StartError(`no service has used ${data} yet; pass the service's folder with --data`);
  const describeEndpoints = (items: typeof endpoints): string =>
    items.map(({ id, name }) => `${JSON.stringify(name)} (${id})`).join(", ");
  const [byId, ...sameId] = endpoints.filter(({ id }) => id === idOrName);
  const [endpoint, ...duplicates] = byId ? [byId, ...sameId] : endpoints.filter(({ name }) => name === idOrName);
  if (!endpoint) {
    const existing = endpoints.length > 0 ? `there are ${describeEndpoints(endpoints)}` : "there are no endpoints";
    throw new StartError(`no endpoint has the id or name "${idOrName}"; ${existing}`);
  }
  if (duplicates.length > 0)
    throw new StartError(
      `several endpoints have the name "${idOrName}": ${describeEndpoints([endpoint, ...duplicates])}; pass the id`,
    );
  return endpoint;
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
