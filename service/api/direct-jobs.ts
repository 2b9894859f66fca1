import type { IncomingMessage, ServerResponse } from "node:http";
import { type LimitedOperation, limits } from "serverless-compute-api/shapes";
import { ServiceError } from "../errors";
import type { JobCalls } from "./job-calls";
import { sendJobError, sendJson } from "./responses";

/** POST /v2/{endpoint}/run and /runsync, GET /v2/{endpoint}/status/{job}; without a query. */
const route = /^\/v2\/([\w-]{1,100})\/(?:(run|runsync)|status\/([\w-]{1,100}))$/;

/** Bytes of a body at most. */
const bodyLimit = { run: limits.runPayload, runsync: limits.runsyncPayload } as const;

/** Whether a request has a JSON body of a known length within the limit. */
const hasPlainBody = ({ method, headers }: IncomingMessage, limit: number): boolean =>
  method === "POST" &&
  headers["content-type"] === "application/json" &&
  headers["content-encoding"] === undefined &&
  Number(headers["content-length"] ?? Number.NaN) <= limit;

/** Takes a request; false when it is for the framework. */
export type DirectJobs = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * The requests that busy clients send, past the framework, whose routing, hooks and body parsing cost a third of such a
 * request. Whatever is unusual about a request, or wrong before its body is read, is left to the framework.
 */
export function createDirectJobs(calls: JobCalls, report: (error: unknown) => void): DirectJobs {
  const fail = (response: ServerResponse, error: unknown): void => {
    if (!(error instanceof ServiceError)) report(error);
    sendJobError(response, error);
  };
  const isAdmitted = (
    endpointId: string,
    operation: LimitedOperation,
    request: IncomingMessage,
    response: ServerResponse,
  ): boolean => {
    try {
      calls.admit(endpointId, operation, request, response);
      return true;
    } catch {
      return false;
    }
  };

  function submit(operation: "run" | "runsync", endpointId: string, response: ServerResponse, body: string): void {
    const send = (text: string | ServiceError): void => {
      if (typeof text === "string") sendJson(response, text);
      else sendJobError(response, text);
    };
    try {
      if (operation === "runsync") calls.runsync(endpointId, body, limits.runsyncWait.default, response, send);
      else
        calls
          .run(endpointId, body)
          .then(send)
          .catch((error: unknown) => fail(response, error));
    } catch (error) {
      fail(response, error);
    }
  }

  return (request, response) => {
    const [, endpointId, operation, jobId] = route.exec(request.url ?? "") ?? [];
    if (endpointId === undefined) return false;
    if (operation === "run" || operation === "runsync") {
      if (!hasPlainBody(request, bodyLimit[operation]) || !isAdmitted(endpointId, operation, request, response))
        return false;
      readBody(request, (body) => submit(operation, endpointId, response, body));
      return true;
    }
    if (jobId === undefined || request.method !== "GET" || !isAdmitted(endpointId, "status", request, response))
      return false;
    try {
      sendJson(response, calls.status(endpointId, jobId));
    } catch (error) {
      fail(response, error);
    }
    return true;
  };
}

function readBody(request: IncomingMessage, done: (body: string) => void): void {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => done(parts.length === 1 ? String(parts[0]) : Buffer.concat(parts).toString()));
}
