import type { TestContext } from "vitest";
import type { JobApi } from "../../support/job-api";
import { at, expectResponse, type RawResponse, type RequestOptions, send } from "../../support/raw-http";
import type { Target } from "../../support/target";
import type { Account } from "./account";

/** The worker channel of an endpoint, as raw requests. */
export interface RawWorker {
  jobs: JobApi;
  /** GET job-take; waits until a job arrives or `signal` aborts. `pod` is the id of another worker of the endpoint. */
  take(signal?: AbortSignal, pod?: string): Promise<RawResponse>;
  /** GET job-take-batch of up to `size` jobs. */
  takeBatch(size: number): Promise<RawResponse>;
  /** POST job-done with a result as the SDKs send it: JSON text under a form content type. */
  done(jobId: string, result: object | string): Promise<RawResponse>;
  /** POST job-stream with one chunk; like a result, it may be JSON text already. */
  stream(jobId: string, chunk: object | string): Promise<RawResponse>;
  /** GET job-stop: the jobs to stop. */
  stop(): Promise<RawResponse>;
  ping(jobId?: string): Promise<RawResponse>;
  /** Authorization header of a worker. */
  token: string;
  /** URL of job-take. */
  takeUrl: string;
}

const variables = [
  "RUNPOD_POD_ID",
  "RUNPOD_ENDPOINT_ID",
  "RUNPOD_AI_API_KEY",
  "RUNPOD_WEBHOOK_GET_JOB",
  "RUNPOD_WEBHOOK_POST_OUTPUT",
  "RUNPOD_WEBHOOK_POST_STREAM",
  "RUNPOD_WEBHOOK_PING",
];

const skipIfExternal = (target: Target, context: TestContext): void =>
  target.localOnly(context, "workers of other services do not hand out their tokens");

/** Reads the environment of a real worker, stops that worker and impersonates it. */
export async function joinAsWorker(target: Target, account: Account, context: TestContext): Promise<RawWorker> {
  skipIfExternal(target, context);
  const jobs = await account.jobsOn("env", context);
  const record = await jobs.runsync({ names: variables });
  expectResponse(record, 200, { status: "COMPLETED" });
  const variable = (name: string): string => {
    const value = at(record.json, "output", name);
    if (typeof value !== "string" || value === "") throw new Error(`workers do not receive ${name}: ${record.text}`);
    return value;
  };
  await account.rest("PATCH", `/endpoints/${jobs.id}`, { workersMax: 0 });
  await jobs.healthBecomes(({ workers }) =>
    ["idle", "running", "ready", "initializing"].every((phase) => workers[phase] === 0),
  );

  const pod = "conformance-worker";
  const environmentPod = variable("RUNPOD_POD_ID");
  const token = variable("RUNPOD_AI_API_KEY");
  const own = (address: string): string => address.replaceAll("$RUNPOD_POD_ID", pod).replaceAll(environmentPod, pod);
  const take = own(variable("RUNPOD_WEBHOOK_GET_JOB")).replaceAll("$ID", pod);
  const toJob = (name: string, jobId: string): string => own(variable(name)).replaceAll("$ID", jobId);
  const request = (method: string, url: string, sending: RequestOptions = {}): Promise<RawResponse> =>
    send(method, url, { ...sending, headers: { authorization: token, ...sending.headers } });
  const post = (url: string, jobId: string, json: object | string): Promise<RawResponse> =>
    request("POST", url, {
      text: typeof json === "string" ? json : JSON.stringify(json),
      headers: { "content-type": "application/x-www-form-urlencoded", "x-request-id": jobId },
    });
  return {
    jobs,
    token,
    takeUrl: take,
    take: (signal, other = pod) =>
      request("GET", `${take.replaceAll(pod, other)}&job_in_progress=0`, signal ? { signal } : {}),
    takeBatch: (size) =>
      request("GET", `${take.replace("/job-take/", "/job-take-batch/")}&batch_size=${size}&job_in_progress=0`),
    done: (jobId, result) => post(`${toJob("RUNPOD_WEBHOOK_POST_OUTPUT", jobId)}&isStream=false`, jobId, result),
    stream: (jobId, chunk) => post(`${toJob("RUNPOD_WEBHOOK_POST_STREAM", jobId)}&isStream=true`, jobId, chunk),
    stop: () => request("GET", take.replace("/job-take/", "/job-stop/")),
    ping: (jobId = "") =>
      request("GET", `${own(variable("RUNPOD_WEBHOOK_PING"))}?job_id=${jobId}&runpod_version=1.12.0`),
  };
}

/** Creates a worker for the tests of a file; each test ends the jobs that it takes. */
export function useWorker(target: Target, account: Account): (context: TestContext) => Promise<RawWorker> {
  let joined: Promise<RawWorker> | undefined;
  return (context) => {
    skipIfExternal(target, context);
    joined ??= joinAsWorker(target, account, context);
    return joined;
  };
}
