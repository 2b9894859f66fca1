import { lookUpWorkerToken } from "../../../../../service/workers/tokens";
import { type Answer, type JobRig, type Jobs, type RigOptions, useJobRig } from "../../jobs/support/job-rig";
import { shortTimings } from "./programs";

/** An endpoint without workers of the service, and the calls of workers that the service did not start, by worker id. */
export interface RemoteEndpoint {
  rig: JobRig;
  jobs: Jobs;
  as(worker: string): {
    take(query?: string): Promise<Answer>;
    done(jobId: string, body: unknown): Promise<Answer>;
    stream(jobId: string, body: unknown): Promise<Answer>;
    ping(query: string): Promise<Answer>;
    stops(): Promise<Answer>;
  };
}

export async function useRemoteEndpoint({ timings, ...options }: RigOptions = {}): Promise<RemoteEndpoint> {
  const short = { ...shortTimings, takeHold: 100, pingSilence: 300, secondLook: 20, ...timings };
  const rig = await useJobRig({ timings: short, ...options });
  const jobs = await rig.endpoint("elsewhere", { workersMax: 0 });
  const headers = { authorization: lookUpWorkerToken(rig.dataFolder, jobs.id) ?? "" };
  const call = (method: string, path: string, body?: unknown) => jobs.call(method, path, body, headers);
  return {
    rig,
    jobs,
    as: (worker) => ({
      take: (query = "") => call("GET", `/job-take/${worker}?gpu=x${query}`),
      done: (jobId, body) => call("POST", `/job-done/${worker}/${jobId}?gpu=x&isStream=false`, body),
      stream: (jobId, body) => call("POST", `/job-stream/${worker}/${jobId}?gpu=x`, body),
      ping: (query) => call("GET", `/ping/${worker}?runpod_version=1.12.0&${query}`),
      stops: () => call("GET", `/job-stop/${worker}?gpu=x`),
    }),
  };
}
