import type { TestContext } from "vitest";
import { at, expectResponse, pollUntil, type RawResponse, send, stringAt } from "../../support/raw-http";
import type { Target } from "../../support/target";

/** States that a job leaves only by /retry or removal. */
const finalStates = ["COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT"];

/** Method and path of each job operation. */
export const jobOperations: [method: string, path: string][] = [
  ["POST", "/run"],
  ["POST", "/runsync"],
  ["GET", "/status/some-id"],
  ["GET", "/status-sync/some-id"],
  ["GET", "/stream/some-id"],
  ["POST", "/cancel/some-id"],
  ["POST", "/retry/some-id"],
  ["POST", "/purge-queue"],
  ["GET", "/health"],
  ["GET", "/requests"],
  ["POST", "/openai/v1/chat/completions"],
];

/** Advances a stopped clock by seconds until a call returns; returns the response and the number of seconds. */
export async function secondsUntil(target: Target, context: TestContext, call: Promise<RawResponse>, jobs: JobApi) {
  let hasReturned = false;
  void call.finally(() => {
    hasReturned = true;
  });
  let seconds = 0;
  for (; !hasReturned; seconds++) {
    await target.advance(1000, context);
    // Gives the call time to return before the next second.
    await jobs.health();
  }
  return { response: await call, seconds };
}

/** The job operations of an endpoint, each as a raw request with the valid key. */
export interface JobApi {
  endpointId: string;
  /** Root of the endpoint's job API. */
  root: string;
  call(method: string, path: string, json?: unknown): Promise<RawResponse>;
  /** POST /run with an input and other fields of the submission. */
  run(input: object, more?: object): Promise<RawResponse>;
  /** POST /runsync; `wait` in milliseconds. */
  runsync(input: object, wait?: number | string, more?: object): Promise<RawResponse>;
  status(id: string): Promise<RawResponse>;
  cancel(id: string): Promise<RawResponse>;
  retry(id: string): Promise<RawResponse>;
  health(): Promise<RawResponse>;
  /** Submits a job by /run and returns its id. */
  submit(input: object, more?: object): Promise<string>;
  /** Polls /status until the job is in one of the states. Default: the final states. */
  reaches(id: string, ...states: string[]): Promise<RawResponse>;
}

export function createJobApi(target: Target, endpointId: string): JobApi {
  const root = `${target.serverlessUrl}/v2/${endpointId}`;
  const call: JobApi["call"] = (method, path, json) => send(method, `${root}${path}`, { key: target.apiKey, json });
  const run: JobApi["run"] = (input, more) => call("POST", "/run", { input, ...more });
  const status: JobApi["status"] = (id) => call("GET", `/status/${id}`);
  return {
    endpointId,
    root,
    call,
    run,
    runsync: (input, wait, more) =>
      call("POST", wait === undefined ? "/runsync" : `/runsync?wait=${wait}`, { input, ...more }),
    status,
    cancel: (id) => call("POST", `/cancel/${id}`),
    retry: (id) => call("POST", `/retry/${id}`),
    health: () => call("GET", "/health"),
    async submit(input, more) {
      const response = await run(input, more);
      expectResponse(response, 200, { status: "IN_QUEUE" });
      return stringAt(response, "id");
    },
    async reaches(id, ...states) {
      const expected = states.length > 0 ? states : finalStates;
      const response = await pollUntil(
        () => status(id),
        ({ status, json }) => {
          const state = String(at(json, "status"));
          return status !== 200 || expected.includes(state) || finalStates.includes(state);
        },
      );
      expectResponse(response, 200);
      const state = String(at(response.json, "status"));
      if (!expected.includes(state))
        throw new Error(`${response.request} returned ${response.text}, expected ${expected.join(" or ")}`);
      return response;
    },
  };
}
