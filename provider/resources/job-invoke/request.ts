import { randomUUID } from "node:crypto";
import { isApiError } from "serverless-compute-api";
import { createRedaction } from "serverless-compute-api/redaction";
import { showValue } from "serverless-compute-api/shapes";
import { callOptions, completeDespiteCancel } from "../../lifecycle/calls";
import { containsSecret } from "../../lifecycle/properties/secret-paths";
import type { Ended, JobOrder, RequestOrder } from "./inputs";
import { JobFailure, shortened } from "./job-failure";
import { mismatches, mismatchLines } from "./output-match";
import type { JobContext } from "./run";

/** Job order with a request. */
type Order = JobOrder & { request: RequestOrder };

const titleOf = ({ endpointId, request: { method, path } }: Order): string =>
  `${method} ${path.replace(/[?#].*$/s, "")} on endpoint "${endpointId}"`;

/** Sends the request of an order and returns the response, whatever its status. Rejects with a JobFailure if none arrives. */
export async function sendRequest(order: Order, context: JobContext): Promise<Ended> {
  const { endpointId, request, timeout } = order;
  const { clients, clock, deadline } = context;
  const fail = (lines: string[], cause?: unknown): JobFailure =>
    new JobFailure(lines, endpointId, undefined, { cause });
  const started = clock.now();
  const endpoint = await clients.management.readEndpoint(endpointId, callOptions(context));
  if (!endpoint) throw fail([`endpoint "${endpointId}" is unknown to the service. Check endpointId.`]);
  const { requestUrl } = endpoint;
  if (requestUrl === undefined)
    throw fail([
      `endpoint "${endpointId}" accepts no HTTP requests; set input instead of request, or use REST v2 and an endpoint of type LOAD_BALANCER`,
    ]);
  const title = titleOf(order);
  context.progress(`${title}: waiting for the response`);
  try {
    const response = await completeDespiteCancel(context, (options) => {
      const remaining = Math.min(started + timeout * 1000, deadline ?? Number.POSITIVE_INFINITY) - clock.now();
      return clients.requests.send(requestUrl, request, { ...options, timeout: Math.max(1, remaining) });
    });
    const { status, body, workerId } = response;
    context.progress(`${title} returned ${status}`);
    const executionTime = Math.round(clock.now() - started);
    return { id: randomUUID(), status: "COMPLETED", output: body, executionTime, workerId, httpStatus: status };
  } catch (error) {
    if (!isApiError(error)) throw error;
    const remedy = "Raise timeout if its workers start slowly, and check the endpoint's logs.";
    throw fail([`${title} received no response: ${error.message}`, remedy], error);
  }
}

/** Compares a response with the expected response; throws a JobFailure if they differ. */
export function holdResponse(order: Order, { id, output, httpStatus }: Ended, { secrets }: JobContext): void {
  const { endpointId, request } = order;
  const { expect } = request;
  const title = `${titleOf(order)} returned ${httpStatus}`;
  const remedy = "The endpoint's logs may have the details. Correct the worker or `expect`.";
  if (httpStatus !== expect.status) {
    const redact = createRedaction(secrets?.values ?? []);
    const text = typeof output === "string" ? redact(output.trim()) : showValue(output, redact);
    const isHidden = containsSecret(["request"], secrets?.paths ?? []);
    const lines = [
      `${title}, expected ${expect.status}`,
      isHidden ? undefined : `response: ${shortened(text)}`,
      remedy,
    ];
    throw new JobFailure(lines, endpointId, id);
  }
  const found = expect.body === undefined ? [] : mismatches(expect.body, output, ["body"]);
  if (found.length === 0) return;
  throw new JobFailure([`${title}, but its body differs`, ...mismatchLines(found, secrets), remedy], endpointId, id);
}

/** Returns true if an order has a request. */
export const isRequest = (order: JobOrder): order is Order => order.request !== undefined;
