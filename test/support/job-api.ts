import { z } from "zod";
import { type Access, at, expectResponse, pollUntil, type RawResponse, type Sending, send, stringAt } from "./raw-http";

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

const recordShape = z.record(z.string(), z.unknown());
const healthShape = z.looseObject({
  jobs: z.record(z.string(), z.number()),
  workers: z.record(z.string(), z.number()),
  message: z.string().optional(),
});
type Health = z.output<typeof healthShape>;

/** The job operations of an endpoint, each as a raw request with the valid key. */
export interface JobApi {
  /** Id of the endpoint. */
  id: string;
  /** Root of the endpoint's job API. */
  readonly root: string;
  call(method: string, path: string, json?: unknown, sending?: Sending): Promise<RawResponse>;
  /** POST /run with an input and other fields of the submission. */
  run(input: object, more?: object): Promise<RawResponse>;
  /** POST /runsync; `wait` in milliseconds. */
  runsync(input: object, wait?: number | string, more?: object): Promise<RawResponse>;
  status(id: string): Promise<RawResponse>;
  cancel(id: string): Promise<RawResponse>;
  retry(id: string): Promise<RawResponse>;
  health(): Promise<Health>;
  /** Submits a job with POST /run and returns its id. */
  submit(input: object, more?: object): Promise<string>;
  /** Polls /status until the job is in one of the states. Default: the final states. Returns the job's record. */
  reaches(id: string, ...states: string[]): Promise<Record<string, unknown>>;
  /** Polls /health until it matches. */
  healthBecomes(matches: (health: Health) => boolean): Promise<void>;
}

export function createJobApi(access: () => Pick<Access, "apiKey" | "serverlessUrl">, endpointId: string): JobApi {
  const root = (): string => `${access().serverlessUrl}/v2/${endpointId}`;
  const call: JobApi["call"] = (method, path, json, sending = {}) =>
    send(method, `${root()}${path}`, { key: access().apiKey, json, ...sending });
  const run: JobApi["run"] = (input, more) => call("POST", "/run", { input, ...more });
  const status: JobApi["status"] = (id) => call("GET", `/status/${id}`);
  async function health(): Promise<Health> {
    const response = await call("GET", "/health");
    expectResponse(response, 200);
    return healthShape.parse(response.json);
  }
  return {
    id: endpointId,
    get root() {
      return root();
    },
    call,
    run,
    runsync: (input, wait, more) =>
      call("POST", wait === undefined ? "/runsync" : `/runsync?wait=${wait}`, { input, ...more }),
    status,
    cancel: (id) => call("POST", `/cancel/${id}`),
    retry: (id) => call("POST", `/retry/${id}`),
    health,
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
      return recordShape.parse(response.json);
    },
    async healthBecomes(matches) {
      // Tests that run concurrently have no expect.poll.
      await pollUntil(
        () => call("GET", "/health"),
        ({ json }) => matches(healthShape.parse(json)),
        30_000,
      );
    },
  };
}
