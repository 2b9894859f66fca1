import { systemClock } from "serverless-compute-api/clock";
import type { JobService } from "serverless-compute-api/job-commands";
import { localPaths } from "../api/local";
import { roots } from "../api/responses";
import { readEndpointNames } from "../resources/endpoint-table";
import { connect, expectSuccess, messageIn } from "./connection";
import { findEndpoint } from "./data-folder";
import type { Output } from "./output";

/** Response timeout, ms; longer than the service's routes wait for a job. */
const responseLimit = 100_000;

/** Connects to the service that runs on a data folder, for commands about jobs. Each request reads its address, which a restart changes. */
export function connectToJobs(data: string, signal?: AbortSignal): JobService {
  const connectFor = (timeout: number) => connect(data, timeout, signal);
  connectFor(responseLimit);
  return {
    signal,
    endpoints: async () => readEndpointNames(data) ?? [],
    async send(method, endpointId, path, body, timeout = responseLimit) {
      for (;;) {
        const response = await connectFor(timeout).send(method, `${roots.jobs}/${endpointId}/${path}`, body);
        const { status, text, retryAfter } = response;
        if (status === 429) await systemClock.sleep(retryAfter * 1000, signal);
        // A load balancer returns 501.
        else if (status >= 500 && status !== 501) expectSuccess(response);
        else return { status, text: status === 200 ? text : messageIn(response) };
      }
    },
  };
}

/**
 * Replaces the injected faults of an endpoint and prints the remaining faults. `faults` is JSON text; without it, only prints them.
 */
export async function callFaults(
  endpoint: string,
  faults: string | undefined,
  data: string,
  output: Output,
): Promise<void> {
  const { send } = connect(data);
  const path = localPaths.faults(findEndpoint(endpoint, data).id);
  const response = await (faults === undefined ? send("GET", path) : send("PUT", path, faults));
  output.out(expectSuccess(response).text);
}
