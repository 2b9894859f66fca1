import { randomUUID } from "node:crypto";
import { isApiError } from "serverless-compute-api";
import { createRedaction } from "serverless-compute-api/redaction";
import { showValue } from "serverless-compute-api/shapes";
import { type CallContext, callOptions, completeDespiteCancel } from "../../framework/calls";
import { containsSecret } from "../../framework/properties/secret-paths";
import type { JobResult, JobSpec, RequestSpec } from "./inputs";
import { jobFailure, truncate } from "./job-failure";
import { findMismatches, formatMismatches } from "./output-match";

/** Job order with a request. */
type RequestJobSpec = JobSpec & { request: RequestSpec };

/** The method and the path of a request, without its query, which may contain secrets. */
export const requestText = ({ method, path }: RequestSpec): string => `${method} ${path.replace(/[?#].*$/s, "")}`;

const titleOf = ({ endpointId, request }: RequestJobSpec): string =>
  `${requestText(request)} on endpoint "${endpointId}"`;

/** Sends the request of an order and returns the response, whatever its status. Rejects with a UserError if none arrives. */
export async function sendRequest(spec: RequestJobSpec, context: CallContext): Promise<JobResult> {
  const { endpointId, request, timeout } = spec;
  const { clients, clock, deadline } = context;
  const startTime = clock.now();
  const endpoint = await clients.management.readEndpoint(endpointId, callOptions(context));
  if (!endpoint) throw jobFailure([`endpoint "${endpointId}" is unknown to the service. Check endpointId.`]);
  const { requestUrl } = endpoint;
  if (requestUrl === undefined)
    throw jobFailure([
      `endpoint "${endpointId}" accepts no HTTP requests; set input instead of request, or use REST v2 and an endpoint of type LOAD_BALANCER`,
    ]);
  const title = titleOf(spec);
  context.progress(`${title}: waiting for the response`);
  try {
    const response = await completeDespiteCancel(context, (options) => {
      const remaining = Math.min(startTime + timeout * 1000, deadline ?? Number.POSITIVE_INFINITY) - clock.now();
      return clients.requests.send(requestUrl, request, { ...options, timeout: Math.max(1, remaining) });
    });
    const { status, body, workerId } = response;
    context.progress(`${title} returned ${status}`);
    const executionTime = Math.round(clock.now() - startTime);
    return { id: randomUUID(), status: "COMPLETED", output: body, executionTime, workerId, httpStatus: status };
  } catch (error) {
    if (!isApiError(error)) throw error;
    const remedy = "Raise timeout if its workers start slowly, and check the endpoint's logs.";
    throw jobFailure([`${title} received no response: ${error.message}`, remedy], error);
  }
}

/** Compares a response with the expected response; throws a UserError if they differ. */
export function checkResponse(spec: RequestJobSpec, { output, httpStatus }: JobResult, { secrets }: CallContext): void {
  const { expect } = spec.request;
  const title = `${titleOf(spec)} returned ${httpStatus}`;
  const remedy = "The endpoint's logs may have the details. Correct the worker or `expect`.";
  if (httpStatus !== expect.status) {
    const redact = createRedaction(secrets.values);
    const text = typeof output === "string" ? redact(output.trim()) : showValue(output, redact);
    const isHidden = containsSecret(["request"], secrets.paths);
    const lines = [`${title}, expected ${expect.status}`, isHidden ? undefined : `response: ${truncate(text)}`, remedy];
    throw jobFailure(lines);
  }
  const differences = expect.body === undefined ? [] : findMismatches(expect.body, output, ["body"]);
  if (differences.length === 0) return;
  throw jobFailure([`${title}, but its body differs`, ...formatMismatches(differences, secrets), remedy]);
}

/** Returns true if an order has a request. */
export const isRequest = (spec: JobSpec): spec is RequestJobSpec => spec.request !== undefined;
